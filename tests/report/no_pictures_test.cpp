// A build without Cairo and Pango says so instead of drawing.
#include <gtest/gtest.h>

#include "report/pictures.h"
#include "report/ponder_picture.h"
#include "report/ponder_sheet.h"
#include "support/errors.h"

namespace sact::report {
namespace {

TEST(NoPictures, DrawingIsRefusedInOneLine) {
  EXPECT_FALSE(can_draw_pictures());
  for (const std::string& message :
       {test::error_of([] { need_pictures(); }), test::error_of([] { draw_ponder_picture({}); })}) {
    EXPECT_NE(message.find("SACT_PICTURES=OFF"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(NoPictures, SheetsThatATrainingFillsStayEmpty) {
  PonderSheet sheet;
  sheet.add(io::RgbImage(4, 4), Map(1, 1, 1.0f), "a caption");
  EXPECT_EQ(sheet.size(), 0u);
}

}  // namespace
}  // namespace sact::report
