// SPDX-License-Identifier: BSL-1.0
/// Data that byre did not allocate: adopted, aliased or borrowed. Its header stands apart from it; copies of it are
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

namespace byre::inline v0 {

/// What releases adopted memory: any callable, with state. It is called once, with the address that
/// was adopted, on whichever thread lets go last, and must not throw: an exception ends the
/// program.
template <class D>
concept DeleterLike = std::move_constructible<D> && std::invocable<D&, void*>;

struct NoDeleter {
  void operator()(void*) const noexcept {}
};

/// Memory that byre did not allocate, for Buffer::adopt().
template <class Deleter = NoDeleter>
struct Foreign {
  void* data;
  std::size_t nbytes;
  Deleter deleter{};
  bool may_write =
      true;  ///< writes go to this memory; if false, a write copies, even by the last owner
  bool others_write = false;  ///< by pointers of their own, so that a lazy clone copies at once
  bool outlives =
      true;  ///< lives until the deleter is called; if false, its lender's, so that a clone copies
};

namespace detail {

/// Whether a deleter is a null function, or an empty wrapper of one.
template <DeleterLike Deleter>
bool is_null(const Deleter& deleter) noexcept {
  if constexpr (std::is_constructible_v<Deleter, std::nullptr_t> &&
                requires { deleter == nullptr; }) {
    return deleter == nullptr;
  } else {
    return false;
  }
}

/// Calls a deleter once, whatever happens.
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

/// A header whose data lives as long as `owner`, which it has taken.
template <class Header, class Owner>
class ForeignHeader final : public Header {
 public:
  /// Throws InvalidArgument or OutOfMemory; `owner` then still owns the data.
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
        owner_(std::move(owner)) {}
  ~ForeignHeader() { stats::detail::report_end(this->data()); }

  Owner owner_;
};

}  // namespace detail
}  // namespace byre::inline v0
