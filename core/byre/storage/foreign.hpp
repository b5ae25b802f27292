// SPDX-License-Identifier: BSL-1.0
/// Foreign memory: adopted, aliased or borrowed, not allocated by byre. Its header is allocated
/// separately; copies of it are allocated as usual.
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

/// The deleter of adopted memory: any callable, with or without state. It is called once with the
/// adopted address, on the thread that releases the memory last. It must not throw: an exception
/// terminates the program.
template <class D>
concept DeleterLike = std::move_constructible<D> && std::invocable<D&, void*>;

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
      true;  ///< false: a write copies, even by the last owner; true: it writes this memory
  bool others_write = false;  ///< other code writes through pointers: a lazy clone copies at once
  bool outlives =
      true;  ///< false: the lender may release it before clones end, so a clone copies at once
};

namespace detail {

/// Whether a deleter is a null function pointer, or an empty wrapper such as std::function.
template <DeleterLike Deleter>
bool is_null(const Deleter& deleter) noexcept {
  if constexpr (std::is_constructible_v<Deleter, std::nullptr_t> &&
                requires { deleter == nullptr; }) {
    return deleter == nullptr;
  } else {
    return false;
  }
}

/// Calls a deleter exactly once, in the destructor, even if moving the deleter throws.
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

/// A header of data that stays valid as long as `owner`, which it owns.
template <class Header, class Owner>
class ForeignHeader final : public Header {
 public:
  /// Throws InvalidArgument or OutOfMemory; `owner` still owns the data then.
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
