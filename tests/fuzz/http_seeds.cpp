// Requests of every kind that the server tells apart.
#include <string>

#include "fuzz/seeds.h"

namespace sact::test {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::string post(const std::string& headers, const std::string& body) {
  return "POST /v1/classify?top=1 HTTP/1.1\r\nHost: localhost\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string part(const std::string& disposition, const std::string& content) {
  return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
}

}  // namespace

std::vector<std::vector<std::byte>> fuzz_seeds() {
  const std::string form = "Content-Type: multipart/form-data; boundary=b\r\n";
  const std::string image = R"(name="image"; filename="a.png")", field = R"(name="top")";
  std::vector<std::vector<std::byte>> seeds;
  for (const std::string& text :
       {get("/health") + get("/v1/models?a=b%20c&d") + get("/"),
        "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\nRange: bytes=0-1,2-3\r\n\r\n" + get("/x"),
        post("Content-Type: image/png\r\n", "an image") + post("Expect: 100-continue\r\n", "b"),
        post(form, part(image, "one") + part(field, "3") + "--b--\r\n"),
        post(form, part(image, "one") + part(image, std::string(3000, 'x')) + "--b--\r\n"),
        post(form, part("name*=UTF-8''a; filename*=UTF-8''b%20c", "") + "--b--"),
        post("Content-Type: application/x-www-form-urlencoded\r\n", "top=1&size=32"),
        post("Content-Encoding: gzip\r\n", "x"), post("Content-Length: 7\r\n", "x"),
        std::string("POST / HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n") +
            get("/"),
        std::string("DELETE / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\n\r\n"),
        std::string("no request\r\n\r\n"),
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n" +
            std::string(100, 'y')}) {
    seeds.push_back(bytes_of(text));
  }
  return seeds;
}

}  // namespace sact::test
