#include "serve/hosts.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sact::serve {
namespace {

TEST(Hosts, OfThisMachineAreItsOwnNames) {
  Hosts hosts({});
  hosts.listens_at("127.0.0.2", true);
  for (const char* host : {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "[::1]",
                           "[::1]:9000", "127.0.0.2:8080"}) {
    EXPECT_TRUE(hosts.allow(host)) << host;
  }
  for (const char* host :
       {"", "x", "localhost.example.org", "example.org:8080", "127.0.0.3", "::1", "[::1", "[::1]x",
        "localhost:x", "localhost:80:80", "localhost@x", ":80"}) {
    EXPECT_FALSE(hosts.allow(host)) << host;
  }
}

TEST(Hosts, OfOtherAddressesAreAnyOrThoseThatAreGiven) {
  Hosts any({});
  any.listens_at("0.0.0.0", false);
  EXPECT_TRUE(any.allow("example.org:80"));
  EXPECT_FALSE(any.allow(""));
  for (const bool loopback : {false, true}) {
    Hosts given({"sact.example.org", "fe80::1"});
    given.listens_at("192.0.2.1", loopback);
    for (const char* host :
         {"sact.example.org", "SACT.example.org:443", "[fe80::1]:80", "192.0.2.1", "localhost"}) {
      EXPECT_TRUE(given.allow(host)) << host;
    }
    EXPECT_FALSE(given.allow("example.org"));
  }
  for (const char* wrong : {"", "http://example.org", "example.org:80", "a b", "[::1]:80"}) {
    EXPECT_THROW(Hosts({wrong}), Error) << wrong;
  }
}

TEST(Hosts, PagesAreTheServersOwnOrNot) {
  EXPECT_TRUE(is_own_page("http://localhost:8080", "localhost:8080"));
  EXPECT_TRUE(is_own_page("https://Example.org", "example.org"));
  for (const char* origin :
       {"", "null", "localhost:8080", "http://localhost", "http://localhost:80801",
        "ftp://localhost:8080", "http://x.localhost:8080", "http://example.org"}) {
    EXPECT_FALSE(is_own_page(origin, "localhost:8080")) << origin;
  }
}

}  // namespace
}  // namespace sact::serve
