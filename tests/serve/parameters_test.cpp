#include "serve/parameters.h"

#include "serve/served.h"
#include "support/errors.h"

namespace sact::serve {
namespace {

class Parameters : public test::Served {
 protected:
  using Given = std::multimap<std::string, std::string>;
  static Asked asked(const Given& parameters, const std::string& model = "adaptive",
                     Task task = Task::kClassify) {
    return asked_of(make_parameters(512), task, {"POST", path_of(task), parameters, {}},
                    *models_->find(model));
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
  using Wrong = Given;
  for (const auto& [wrong, named] :
       {std::pair(Wrong{{"top", "0"}}, "top"), std::pair(Wrong{{"top", "2.5"}}, "whole number"),
        std::pair(Wrong{{"top", "5x"}}, "5x"), std::pair(Wrong{{"top", ""}}, "top"),
        std::pair(Wrong{{"size", "513"}}, "512"), std::pair(Wrong{{"top", "nan"}}, "top"),
        std::pair(Wrong{{"budget", "0"}}, "0.001"),
        std::pair(Wrong{{"top", "1"}, {"top", "2"}}, "twice"),
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

TEST_F(Parameters, OfAnotherTaskAreNamedWithIt) {
  for (const auto& [task, name, path] : {std::tuple(Task::kClassify, "score", "/v1/detect"),
                                         std::tuple(Task::kDetect, "top", "/v1/classify"),
                                         std::tuple(Task::kDetect, "size", "/v1/classify"),
                                         std::tuple(Task::kDetect, "budget", "/v1/classify"),
                                         std::tuple(Task::kSaliency, "maps", "/v1/classify"),
                                         std::tuple(Task::kSaliency, "dense", "/v1/detect"),
                                         std::tuple(Task::kSaliency, "whole", "/v1/classify")}) {
    const std::string model = task == Task::kDetect ? "finder" : "adaptive";
    const std::string error = test::error_of([&] { asked({{name, "1"}}, model, task); });
    EXPECT_NE(error.find(std::string("'") + name), std::string::npos) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
  }
}

TEST_F(Parameters, HaveAnEffectWhereTheyAreTaken) {
  // Whatever a task takes changes what is asked.
  for (const Parameter& parameter : make_parameters(512)) {
    for (const Task task : parameter.tasks) {
      if (parameter.name == "budget") continue;  // needs a curve
      const Asked usual = asked({}, task == Task::kDetect ? "finder" : "adaptive", task);
      const double other = parameter.get(usual) != parameter.most ? parameter.most : 0.5;
      const Asked changed = asked({{parameter.name, fmt::format("{}", other)}},
                                  task == Task::kDetect ? "finder" : "adaptive", task);
      EXPECT_EQ(parameter.get(changed), other) << parameter.name;
      EXPECT_NE(parameter.get(usual), other) << parameter.name;
    }
  }
}

}  // namespace
}  // namespace sact::serve
