// SPDX-License-Identifier: BSL-1.0
#include <byre/error/detail/assert.hpp>
#include <byre/error/detail/quoted_text.hpp>
#include <byre/error/detail/warning_handler.hpp>
#include <byre/error/error.hpp>

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace byre::inline BYRE_ABI {
namespace {

[[gnu::format(BYRE_PRINTF, 1, 0)]] Text format_arguments(const char* format,
                                                         std::va_list arguments) noexcept {
  constexpr char ellipsis[] = "...";
  Text text;
  const int length = std::vsnprintf(text.chars.data(), text.chars.size(), format, arguments);
  if (length >= static_cast<int>(text.chars.size())) {
    std::memcpy(text.chars.end() - sizeof ellipsis, ellipsis, sizeof ellipsis);
  }
  return text;
}

void write_to_stderr(const char* text) noexcept {
  std::fprintf(stderr, "byre: warning: %s\n", text);
}

}  // namespace

Text format_text(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  const Text text = format_arguments(format, arguments);
  va_end(arguments);
  return text;
}

OutOfMemory::OutOfMemory(std::size_t nbytes, const char* allocator) noexcept
    : Error(format_text(
          "out of memory: cannot allocate %zu bytes from the %s. Nothing changed. Release buffers, "
          "trim the recycling pool, or request less.",
          nbytes, allocator)) {}

OutOfMemory OutOfMemory::of_heap(const char* operation) noexcept {
  return OutOfMemory(format_text(
      "out of memory: %.300s needs more heap memory than is left. Release tensors and buffers, "
      "trim the recycling pool, or request less.",
      operation));
}

InvalidArgument InvalidArgument::size_overflow(std::size_t nbytes, std::size_t largest) noexcept {
  return InvalidArgument(format_text(
      "size out of range: %zu bytes, at most %zu bytes. Check for a negative size converted to an "
      "unsigned one, and for overflow in a product of sizes.",
      nbytes, largest));
}

InvalidArgument InvalidArgument::null_deleter() noexcept {
  return InvalidArgument(
      format_text("Buffer::adopt: null deleter, so byre cannot release the memory. Pass a "
                  "callable, or use Buffer::borrow for memory that stays yours."));
}

InvalidArgument InvalidArgument::null_pointer(const char* call, std::size_t nbytes) noexcept {
  return InvalidArgument(
      format_text("%s: null pointer to %zu bytes. Pass the address of the bytes, or a size of 0.",
                  call, nbytes));
}

WarningHandler set_warning_handler(WarningHandler handler) noexcept {
  return detail::warning_handler().exchange(handler != nullptr ? handler : &write_to_stderr);
}

void warn(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  const Text text = format_arguments(format, arguments);
  va_end(arguments);
  detail::warning_handler().get()(text.chars.data());
}

namespace detail {

Text without_full_stop(const char* text) noexcept {
  const std::size_t length = std::strlen(text);
  const bool has_one =
      length != 0 && text[length - 1] == '.' && (length == 1 || text[length - 2] != '.');
  return format_text("%.*s", static_cast<int>(length - (has_one ? 1 : 0)), text);
}

InstalledHandler& warning_handler() noexcept {
  // Never destroyed: destructors of statics may warn.
  alignas(InstalledHandler) static std::byte place[sizeof(InstalledHandler)];
  static InstalledHandler& handler = *::new (place) InstalledHandler(&write_to_stderr);
  return handler;
}

void fail_assertion(const char* text, CallSite site) noexcept {
  std::fprintf(stderr, "byre: %s:%u: %s\n", site.file, site.line, text);
  std::fflush(stderr);
  std::abort();
}

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
