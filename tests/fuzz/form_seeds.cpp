// Forms of every kind that their reader tells apart.
#include <string>

#include "fuzz/seeds.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  const std::string type = "multipart/form-data; boundary=b\n",
                    disposition = "Content-Disposition: form-data; ";
  const auto part = [&](const std::string& parameters, const std::string& content) {
    return "--b\r\n" + disposition + parameters + "\r\nContent-Type: image/png\r\n\r\n" + content +
           "\r\n";
  };
  std::vector<std::vector<std::byte>> seeds;
  for (const std::string& text :
       {type + part(R"(name="image"; filename="a.png")", "one") + part(R"(name="top")", "3") +
            "--b--\r\n",
        type + part(R"(filename="a\"b\\c"; name=image)", "\r\n--c\r\n") + part("name=top", "") +
            "--b--",
        type + part("name=image; filename*=UTF-8''b%20c", std::string(300, 'x')) + "--b--\r\nafter",
        "Multipart/Form-Data; charset=utf-8; Boundary=\"b\"\nbefore\r\n" +
            part("NAME = a ; ;", "x") + "--b--",
        type + part("name=a;filename=;filename=", "x") + "--b--", type + "--b\r\n\r\nx\r\n--b--",
        type + part("name=" + std::string(4100, 'a'), "x") + "--b--",
        type + part("name=\"a", "x") + "--bb", std::string("image/png\nx"),
        std::string("multipart/form-data\nx")}) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    seeds.emplace_back(data, data + text.size());
  }
  return seeds;
}

}  // namespace sact::test
