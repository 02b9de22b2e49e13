#include "server/devices/why_unavailable.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

v1::Device Available(v1::Availability::State state) {
  v1::Device device;
  device.set_state(v1::Device::IDLE);
  device.mutable_availability()->set_state(state);
  device.mutable_availability()->mutable_reservation()->set_owner("ada");
  return device;
}

TEST(WhyUnavailableTest, WhatIsLostOrKeptFromWorkIsNotToBeHad) {
  const auto said = [](const v1::Device& device) {
    return WhyUnavailable(device, "bob").value_or(Reason{}).of_several;
  };
  EXPECT_EQ(said(Available(v1::Availability::QUARANTINED)), "match but are quarantined");
  EXPECT_EQ(said(Available(v1::Availability::DRAINED)), "match but are drained");
  EXPECT_EQ(said(Available(v1::Availability::DRAINING)), "match but are being drained");
  EXPECT_EQ(said(Available(v1::Availability::RESERVED)),
            "match but are reserved for somebody else");
  v1::Device lost = Available(v1::Availability::AVAILABLE);
  lost.set_state(v1::Device::LOST);
  EXPECT_EQ(said(lost), "match but are lost");
}

TEST(WhyUnavailableTest, WhatWorksOrWaitsIs) {
  v1::Device device;
  device.set_state(v1::Device::BUSY);
  EXPECT_EQ(WhyUnavailable(device, "bob"), std::nullopt);
  EXPECT_EQ(WhyUnavailable(Available(v1::Availability::AVAILABLE), "bob"), std::nullopt);
  // Its owner's.
  EXPECT_EQ(WhyUnavailable(Available(v1::Availability::RESERVED), "ada"), std::nullopt);
}

}  // namespace
}  // namespace slipway::server
