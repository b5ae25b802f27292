// SPDX-License-Identifier: BSL-1.0
/// Tensors with names, compared.
#pragma once

#include <byre/interop/named_tensors.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include "npy_tensors.hpp"

namespace byre::test {

inline void expect_same_tensors(const NamedTensors& found, const NamedTensors& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(found[at].first, expected[at].first);
    expect_same(found[at].second, expected[at].second);
  }
}

}  // namespace byre::test
