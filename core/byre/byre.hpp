// SPDX-License-Identifier: BSL-1.0
/// The storage core in one include: buffers, storages, the memory they come from, what is counted.
#pragma once

#include <byre/config.hpp>
#include <byre/cow/share_word.hpp>
#include <byre/error/call_site.hpp>
#include <byre/error/error.hpp>
#include <byre/files/output_file.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/memory/device.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/memory/pool.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/observe/expect.hpp>
#include <byre/observe/recording.hpp>
#include <byre/pages/paged_allocator.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/explain.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>
#include <byre/storage/tiled_buffer.hpp>
