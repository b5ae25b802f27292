// SPDX-License-Identifier: BSL-1.0
/// A buffer, and another process with a lazy clone of it.
#pragma once

#include <byre/ipc/send.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include "../pages/paged_buffers.hpp"
#include "peer.hpp"

namespace byre::test {

using Order = Peer::Order;

inline constexpr auto one = std::byte{1};
inline constexpr auto two = std::byte{2};
inline constexpr auto three = std::byte{3};

/// A peer that has a lazy clone of `buffer`, in which all bytes are 1.
class Views : public testing::Test {
 protected:
  Views() {
    collect();  // what other tests exported
    buffer_ = filled(one);
    send(peer_.data[0], buffer_);
    EXPECT_TRUE(peer_.tell(Order::receive));
  }

  Peer peer_;
  Buffer buffer_;
};

}  // namespace byre::test
