// SPDX-License-Identifier: BSL-1.0
/// IntrusiveList: a doubly linked list of objects that contain their links, so that adding and
/// removing an object never allocates.
#pragma once

#include <byre/config.hpp>
#include <byre/error/detail/assert.hpp>

namespace byre::inline BYRE_ABI::detail {

/// Base class of the objects in a list. An object is in one list at most. A copy is in no list.
class ListNode {
 public:
  ListNode() noexcept = default;
  ListNode(const ListNode&) noexcept {}
  ListNode& operator=(const ListNode&) noexcept { return *this; }

  bool is_listed() const noexcept { return next_ != nullptr; }

 private:
  template <class Object>
  friend class IntrusiveList;

  ListNode* previous_ = nullptr;
  ListNode* next_ = nullptr;
};

/// A list of Objects, which derive from ListNode. It does not own them: remove each object before
/// its lifetime ends. Thread-safety: that of a standard container. Each call takes constant time.
template <class Object>
class IntrusiveList {
 public:
  IntrusiveList() noexcept { ends_.previous_ = ends_.next_ = &ends_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool is_empty() const noexcept { return ends_.next_ == &ends_; }
  bool has_one() const noexcept { return !is_empty() && ends_.next_ == ends_.previous_; }
  /// Requires that the list is not empty.
  Object& front() noexcept { return *begin(); }
  const Object& front() const noexcept { return *begin(); }

  void push_back(Object& object) noexcept { insert_before(ends_, object); }
  void push_front(Object& object) noexcept { insert_before(*ends_.next_, object); }
  /// Requires that the object is in this list.
  void remove(Object& object) noexcept {
    ListNode& node = object;
    node.previous_->next_ = node.next_;
    node.next_->previous_ = node.previous_;
    node.previous_ = node.next_ = nullptr;
  }

  /// An iterator for range-based for. It stays valid until its object is removed.
  template <class Element, class Node>
  class Iterator {
   public:
    explicit Iterator(Node* node) noexcept : node_(node) {}
    Element& operator*() const noexcept { return static_cast<Element&>(*node_); }
    Iterator& operator++() noexcept {
      node_ = node_->next_;
      return *this;
    }
    bool operator==(const Iterator&) const noexcept = default;

   private:
    Node* node_;
  };
  auto begin() noexcept { return Iterator<Object, ListNode>(ends_.next_); }
  auto end() noexcept { return Iterator<Object, ListNode>(&ends_); }
  auto begin() const noexcept { return Iterator<const Object, const ListNode>(ends_.next_); }
  auto end() const noexcept { return Iterator<const Object, const ListNode>(&ends_); }

 private:
  static void insert_before(ListNode& next, ListNode& node) noexcept {
    BYRE_ASSERT(!node.is_listed(), "cannot add an object to a list: it is in a list already");
    node.previous_ = next.previous_;
    node.next_ = &next;
    next.previous_->next_ = &node;
    next.previous_ = &node;
  }

  ListNode ends_;  // follows the last object and precedes the first one
};

}  // namespace byre::inline BYRE_ABI::detail
