// SPDX-License-Identifier: BSL-1.0
/// The storage core in one include: buffers, storages, the memory they come from, what is counted.
#pragma once

#include <byre/config.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/device.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/paged.hpp>
#include <byre/memory/pool.hpp>
#include <byre/stats/counters.hpp>
#include <byre/stats/events.hpp>
#include <byre/stats/expect.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/output_file.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiled_buffer.hpp>
#include <byre/trace/recording.hpp>
