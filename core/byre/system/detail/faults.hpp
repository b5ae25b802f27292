// SPDX-License-Identifier: BSL-1.0
/// Faults: accesses to pages whose protection forbids them.
#pragma once

#include <byre/config.hpp>

#include <cstdint>

namespace byre::inline BYRE_ABI::system {

/// The parts of the library that handle faults, each with an action of its own.
enum class FaultUser : std::uint8_t { page_guards, lost_pages };

/// Called in the thread that accessed `address`. Returns true if it removed the cause, and the
/// processor is to repeat the access. Otherwise the fault is forwarded to the handler that the
/// program had installed before. Must be async-signal-safe.
using FaultAction = bool (*)(const void* address) noexcept;

/// Prevents the unloading of the library, because handlers that are installed later may store the
/// address of the library's handler. Returns false if the system refuses, or if its faults cannot
/// be handled. Takes locks of the system's loader.
bool stay_loaded() noexcept;

/// Makes `action` the first handler of faults. Does nothing if the first handlers are this
/// library's and already call it. Each user always passes one and the same action. Only one thread
/// at a time may call this. Does nothing if faults cannot be handled.
void handle_faults(FaultUser user, FaultAction action) noexcept;

}  // namespace byre::inline BYRE_ABI::system
