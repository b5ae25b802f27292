// SPDX-License-Identifier: BSL-1.0
/// CountedPtr: a pointer that shares ownership of an object which stores the number of its handles.
/// The interface is the part of boost::intrusive_ptr that byre uses.
#pragma once

#include <byre/config.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace byre::inline BYRE_ABI {

/// Null, or a handle to an object. Calls intrusive_ptr_add_ref(object) for each further handle, and
/// intrusive_ptr_release(object), which destroys the object with its last handle.
/// Argument-dependent lookup finds both functions. Neither may throw. Thread-safety and progress
/// are those of the two functions for handles of different threads, and those of a plain pointer
/// for one handle.
template <class Object>
class CountedPtr {
 public:
  constexpr CountedPtr() noexcept = default;
  constexpr CountedPtr(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)
  /// If `adds_handle` is false, takes over a handle that was already counted.
  CountedPtr(Object* object, bool adds_handle = true) noexcept : object_(object) {  // NOLINT
    if (object_ != nullptr && adds_handle) {
      intrusive_ptr_add_ref(object_);
    }
  }
  CountedPtr(const CountedPtr& other) noexcept : CountedPtr(other.object_) {}
  CountedPtr(CountedPtr&& other) noexcept : object_(other.detach()) {}
  template <class Derived>
  requires std::is_convertible_v<Derived*, Object*> CountedPtr(const CountedPtr<Derived>& other)
  noexcept : CountedPtr(other.get()) {}  // NOLINT
  template <class Derived>
  requires std::is_convertible_v<Derived*, Object*> CountedPtr(CountedPtr<Derived>&& other)
  noexcept : object_(other.detach()) {}  // NOLINT
  ~CountedPtr() {
    if (object_ != nullptr) {
      intrusive_ptr_release(object_);
    }
  }

  /// The old object is released last, because its destructor may use this handle.
  CountedPtr& operator=(CountedPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  Object* get() const noexcept { return object_; }
  Object& operator*() const noexcept { return *object_; }
  Object* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// Returns the pointer and becomes null. The caller takes over the handle.
  [[nodiscard]] Object* detach() noexcept { return std::exchange(object_, nullptr); }

  friend bool operator==(const CountedPtr&, const CountedPtr&) noexcept = default;
  friend bool operator==(const CountedPtr& pointer, const Object* object) noexcept {
    return pointer.object_ == object;
  }

 private:
  Object* object_ = nullptr;
};

}  // namespace byre::inline BYRE_ABI
