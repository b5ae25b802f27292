// SPDX-License-Identifier: BSL-1.0
/// Buffers and storages, with errors, counters and events: most programs include only this header.
/// Other headers declare tiles (storage/tiles/tiled_buffer.hpp), paged and recycled memory (pages/,
/// memory/), files (files/) and recordings (observe/).
#pragma once

#include <byre/config.hpp>
#include <byre/error/error.hpp>
#include <byre/memory/allocator.hpp>
#include <byre/observe/counters.hpp>
#include <byre/observe/events.hpp>
#include <byre/storage/array.hpp>
#include <byre/storage/atomic_buffer.hpp>
#include <byre/storage/atomic_storage.hpp>
#include <byre/storage/buffer.hpp>
#include <byre/storage/pin.hpp>
#include <byre/storage/storage.hpp>
