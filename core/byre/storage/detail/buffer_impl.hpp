// SPDX-License-Identifier: BSL-1.0
/// What basic_buffer does out of line. The library instantiates it for sync::Boost; a test or a checker that brings
/// another Sync includes this.
#pragma once

#include <byre/storage/detail/buffer_sizes.hpp>
#include <byre/storage/detail/buffer_writes.hpp>
