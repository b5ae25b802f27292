// SPDX-License-Identifier: BSL-1.0
/// Warnings: what byre has to say where throwing would be wrong. They go to one handler per
/// process, which writes to stderr until the user installs another.
#pragma once

namespace byre::inline v0 {

/// Called with a text that is valid during the call. May be called from several threads at once and
/// must not throw.
using WarningHandler = void (*)(const char* text) noexcept;

/// Installs `handler` (null: the default, stderr) and returns the one before. Thread-safe.
WarningHandler set_warning_handler(WarningHandler handler) noexcept;

/// Hands a printf-style text to the handler. Thread-safe.
[[gnu::format(printf, 1, 2)]] void warn(const char* format, ...) noexcept;

}  // namespace byre::inline v0
