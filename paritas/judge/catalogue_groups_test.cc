#include "paritas/judge/catalogue_groups.h"

#include <gtest/gtest.h>

namespace paritas::catalogue {
namespace {

TEST(CatalogueGroups, UnevenError) {
  const Finding f = uneven_error({"/attn/MatMul", "y", "local", "head (axis 1)", "index 3", 0.82, 0.125, 0.13, false});
  EXPECT_EQ(f.id, "uneven-error");
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.text,
            "Of the local error energy of y, 82 % is at index 3 of head (axis 1), which has 12.5 % of the elements and "
            "13 % of the reference's energy.");
  EXPECT_FALSE(f.shows.empty() || f.does_not_show.empty() || f.next.empty());
  EXPECT_EQ(f.evidence["share"], 0.82);
  const Finding accumulated = uneven_error({"n", "y", "accumulated", "axis 0", "even indices", 1, 0.5, 0.5, true});
  EXPECT_EQ(accumulated.text.rfind("Of the accumulated NaN and infinities of y", 0), 0U);
  EXPECT_NE(accumulated.does_not_show, f.does_not_show);
}

}  // namespace
}  // namespace paritas::catalogue
