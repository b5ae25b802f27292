// SPDX-License-Identifier: BSL-1.0
/// Everything byre offers, in one include.
#pragma once

#include <byre/config.hpp>
#include <byre/cow/share_lock.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/assert.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/error/warning.hpp>
#include <byre/memory/aligned_allocator.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/device.hpp>
#include <byre/memory/pmr_allocator.hpp>
#include <byre/memory/pool.hpp>
#include <byre/stats/counters.hpp>
#include <byre/stats/events.hpp>
#include <byre/stats/expect.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/storage.hpp>
#include <byre/tensor/accessor.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/dtype.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/half.hpp>
#include <byre/tensor/layout/dims.hpp>
#include <byre/tensor/layout/layout.hpp>
#include <byre/tensor/layout/views.hpp>
#include <byre/tensor/npy.hpp>
#include <byre/tensor/npy/header.hpp>
#include <byre/tensor/print.hpp>
#include <byre/tensor/promotion.hpp>
#include <byre/tensor/scalar.hpp>
#include <byre/tensor/tensor.hpp>
#include <byre/version.hpp>
