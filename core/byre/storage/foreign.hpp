// SPDX-License-Identifier: BSL-1.0
/// Foreign memory: memory that byre did not allocate, but that a buffer adopts, aliases or borrows.
/// The header, which holds the share word, is allocated separately; copies of the memory are
/// allocated as usual.
#pragma once

#include <byre/config.hpp>
#include <byre/cow/detail/header.hpp>
#include <byre/error/error.hpp>
#include <byre/observe/detail/observer.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace byre::inline BYRE_ABI {

/// The deleter of adopted memory: any callable, with or without state. It is called once, with the
/// adopted address, on the thread that ends the last use of the memory. It must not throw: an
/// exception terminates the program.
template <class D>
concept DeleterLike = std::move_constructible<D> && std::invocable<D&, void*>;

/// Does nothing: the deleter of borrowed memory.
struct NoDeleter {
  void operator()(void*) const noexcept {}
};

/// Description of foreign memory, for Buffer::adopt().
template <class Deleter = NoDeleter>
struct Foreign {
  void* data;
  std::size_t nbytes;
  Deleter deleter{};
  bool may_write =
      true;  ///< if false, every write copies first; if true, the last owner writes this memory
  bool others_write =
      false;  ///< if true, other code may write this memory, so a lazy clone copies immediately
  bool outlives =
      true;  ///< if false, the memory may be released before the clones, so lazy clones copy it
};

namespace detail {

/// Whether a deleter is a null function pointer or an empty wrapper, for example std::function.
template <DeleterLike Deleter>
bool is_null(const Deleter& deleter) noexcept {
  if constexpr (std::is_constructible_v<Deleter, std::nullptr_t> &&
                requires { deleter == nullptr; }) {
    return deleter == nullptr;
  } else {
    return false;
  }
}

/// Calls a deleter exactly once: in the destructor, or in the constructor if moving the deleter
/// throws.
template <DeleterLike Deleter>
class DeleteOnce {
 public:
  DeleteOnce(void* data, Deleter& deleter) try : data_(data), deleter_(std::move(deleter)) {
  } catch (...) {
    deleter(data);
  }
  DeleteOnce(DeleteOnce&& other) noexcept(std::is_nothrow_move_constructible_v<Deleter>)
      : data_(other.data_), deleter_(std::move(other.deleter_)) {
    other.armed_ = false;
  }
  DeleteOnce& operator=(DeleteOnce&&) = delete;
  ~DeleteOnce() {
    if (armed_) {
      deleter_(data_);
    }
  }

 private:
  void* const data_;
  Deleter deleter_;
  bool armed_ = true;
};

/// A header of data that is valid until `owner` is destroyed. The header owns `owner`.
template <class Header, class Owner>
class ForeignHeader final : public Header {
 public:
  /// Throws InvalidArgument if the size exceeds max_nbytes, or if the address is null and the size
  /// is not 0; OutOfMemory if there is no memory for the header. `owner` still owns the data then.
  static Header* create(const typename Header::Description& description, Owner& owner) {
    if (description.data == nullptr && description.nbytes != 0) {
      throw InvalidArgument::null_pointer(description.origin == Origin::adopted ? "Buffer::adopt"
                                          : description.origin == Origin::aliased
                                              ? "Buffer::adopt_aliased"
                                              : "Buffer::borrow",
                                          description.nbytes);
    }
    if (description.nbytes > max_nbytes) {
      throw InvalidArgument::size_overflow(description.nbytes, max_nbytes);
    }
    Header* header = new (std::nothrow) ForeignHeader(description, std::move(owner));
    if (header == nullptr) {
      throw OutOfMemory(sizeof(ForeignHeader), "heap, for the header of foreign memory");
    }
    return header;
  }

 private:
  ForeignHeader(const typename Header::Description& description, Owner&& owner)
      : Header(description,
               [](Header& self) noexcept { delete static_cast<ForeignHeader*>(&self); }),
        owner_(std::move(owner)) {
    stats::detail::count(stats::detail::plus(stats::Counter::adopted_bytes, adopted_nbytes()),
                         stats::detail::plus(stats::Counter::device_bytes, device_nbytes()));
    stats::detail::report_foreign(*this);
  }
  ~ForeignHeader() {
    stats::detail::count(stats::detail::minus(stats::Counter::adopted_bytes, adopted_nbytes()),
                         stats::detail::minus(stats::Counter::device_bytes, device_nbytes()));
    stats::detail::report_end(static_cast<const Header*>(this), this->data());
  }

  std::size_t adopted_nbytes() const noexcept {
    return this->origin() == Origin::adopted ? this->capacity() : 0;
  }
  std::size_t device_nbytes() const noexcept {
    return this->allocator().device().is_cpu() ? 0 : adopted_nbytes();
  }

  Owner owner_;
};

}  // namespace detail
}  // namespace byre::inline BYRE_ABI
