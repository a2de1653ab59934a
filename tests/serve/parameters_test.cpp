#include "serve/parameters.h"

#include "serve/served.h"
#include "support/errors.h"

namespace sact::serve {
namespace {

class Parameters : public test::Served {
 protected:
  static Asked asked(const std::map<std::string, std::string>& parameters,
                     const std::string& model = "adaptive") {
    return asked_of({"POST", "/v1/classify", parameters, {}}, *models_->find(model), 512);
  }
};

TEST_F(Parameters, AreReadAndOthersKeepTheirDefaults) {
  const Asked none = asked({});
  EXPECT_EQ(none.top, 5);
  EXPECT_FALSE(none.maps);
  EXPECT_EQ(none.halting.shift, 0);
  const Asked some = asked({{"model", "adaptive"},
                            {"top", "3"},
                            {"size", "96"},
                            {"whole", "1"},
                            {"maps", "1"},
                            {"halting_shift", "-0.5"},
                            {"hard_budget", "0.9"}});
  EXPECT_EQ(some.top, 3);
  EXPECT_EQ(some.input.size, 96);
  EXPECT_TRUE(some.input.whole);
  EXPECT_TRUE(some.maps);
  EXPECT_EQ(some.halting.shift, -0.5);
  EXPECT_EQ(some.halting.hard_budget, 0.9);
}

TEST_F(Parameters, ThatMakeNoSenseAreNamed) {
  using Wrong = std::map<std::string, std::string>;
  for (const auto& [wrong, named] :
       {std::pair(Wrong{{"top", "0"}}, "top"), std::pair(Wrong{{"top", "2.5"}}, "whole number"),
        std::pair(Wrong{{"top", "5x"}}, "5x"), std::pair(Wrong{{"top", ""}}, "top"),
        std::pair(Wrong{{"size", "513"}}, "512"), std::pair(Wrong{{"score", "nan"}}, "score"),
        std::pair(Wrong{{"halting_shift", "inf"}}, "halting_shift"),
        std::pair(Wrong{{"budget", "0.5"}}, "calibrate"),
        std::pair(Wrong{{"toop", "1"}}, "toop")}) {
    EXPECT_NE(test::error_of([&] { asked(wrong); }).find(named), std::string::npos) << named;
  }
  EXPECT_NE(test::error_of([&] {
              asked({{"hard_budget", "0.5"}}, "plain");
            }).find("plain network"),
            std::string::npos);
}

}  // namespace
}  // namespace sact::serve
