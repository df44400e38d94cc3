#include "precision/mixed/loss_scaler.h"

#include <gtest/gtest.h>

namespace megadlm::precision {
namespace {

TEST(LossScaler, IsOneWithoutFp16) {
  LossScaler scaler({});
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1.0);
}

TEST(LossScaler, HalvesAfterOverflowsAndDoublesAfterGoodSteps) {
  config::PrecisionOptions options;
  options.fp16 = true;
  options.initial_loss_scale = 1024;
  options.hysteresis = 2;
  options.loss_scale_window = 3;
  options.min_loss_scale = 400;
  LossScaler scaler(options);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1024);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 512);
  for (int i = 0; i < 3; ++i) scaler.update(false);
  EXPECT_EQ(scaler.scale(), 1024);
  for (const double scale : {1024, 512, 400}) {  // only the first overflow after growth is borne
    EXPECT_TRUE(scaler.can_fall());
    scaler.update(true);
    EXPECT_EQ(scaler.scale(), scale);
  }
  EXPECT_FALSE(scaler.can_fall());
  for (int i = 0; i < 20; ++i) scaler.update(true);
  EXPECT_EQ(scaler.scale(), 400);
}

TEST(LossScaler, AFixedScaleStays) {
  config::PrecisionOptions options;
  options.fp16 = true;
  options.loss_scale = 128;
  LossScaler scaler(options);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 128);
}

TEST(LossScaler, ContinuesFromItsState) {
  config::PrecisionOptions options;
  options.fp16 = true;
  options.initial_loss_scale = 64;
  options.loss_scale_window = 2;
  LossScaler one(options), other(options);
  one.update(true);
  one.update(true);
  one.update(false);
  other.restore(one.state());
  one.update(false);
  other.update(false);
  EXPECT_EQ(one.scale(), 64);
  EXPECT_EQ(other.scale(), one.scale());
}

}  // namespace
}  // namespace megadlm::precision
