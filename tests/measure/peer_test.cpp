// Another program that is measured beside ours, and what is said when it does not answer.
#include "measure/peer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/errors.h"
#include "support/temporary.h"

namespace sact::measure {
namespace {

using test::error_of;

class PeerOf : public ::testing::Test {
 protected:
  /// The command that runs a shell script.
  std::string script(const std::string& text) {
    const auto path = directory_ / (std::to_string(++scripts_) + ".sh");
    std::ofstream(path) << text;
    return "sh " + path.string();
  }

  test::TemporaryDirectory directory_;
  int scripts_ = 0;
};

TEST_F(PeerOf, AScriptThatSpeaksTheProtocolIsAskedAndEnded) {
  const auto end = directory_ / "end";
  const std::string command = script(R"(
    echo '{"runtime": "a script", "batch": 2}'
    time=1
    while read word count; do
      case $word in
        run) time=$((time + 1)); echo "[$time.5]" ;;
        quit) echo quit > )" + end.string() +
                                     R"(; exit ;;
      esac
    done)");
  {
    Peer peer(command);
    EXPECT_EQ(peer.about()["runtime"], "a script");
    EXPECT_EQ(peer.about()["batch"], 2);
    EXPECT_EQ(peer.run(), 2.5);
    EXPECT_EQ(peer.run(), 3.5);
    EXPECT_FALSE(std::filesystem::exists(end));
  }
  EXPECT_TRUE(std::filesystem::exists(end));
}

TEST_F(PeerOf, OneThatDiesIsNamed) {
  const std::string never = script("exit 3");
  std::string message = error_of([&] { Peer peer(never); });
  EXPECT_NE(message.find(never), std::string::npos) << message;
  EXPECT_NE(message.find("ended before it had answered"), std::string::npos) << message;
  Peer once(script("echo '{}'; read line; echo '[1]'; exit 1"));
  EXPECT_EQ(once.run(), 1);
  message = error_of([&] { once.run(); });
  EXPECT_NE(message.find("ended before it had answered"), std::string::npos) << message;
}

TEST_F(PeerOf, OneThatDoesNotExistIsNamed) {
  const std::string message = error_of([] { Peer peer("./no-such-program --fast"); });
  EXPECT_NE(message.find("'./no-such-program --fast' ended"), std::string::npos) << message;
}

TEST_F(PeerOf, NonsenseIsShown) {
  std::string message = error_of([&] { Peer peer(script("echo hello; read line")); });
  EXPECT_NE(message.find("'hello', which is not JSON"), std::string::npos) << message;
  message = error_of([&] { Peer peer(script("echo '[1]'; read line")); });
  EXPECT_NE(message.find("did not say what it is"), std::string::npos) << message;
  for (const std::string answer : {"[]", "[1, 2]", "[true]", "7", "{}"}) {
    Peer peer(script("echo '{}'; read line; echo '" + answer + "'; read line"));
    message = error_of([&] { peer.run(); });
    EXPECT_NE(message.find("instead of one time"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sact::measure
