// SPDX-License-Identifier: BSL-1.0
/// ViewPath: how a view comes from its base: a chain of ViewInfos, each of which knows the one before
/// it, so that views of views share what they have in common; or, on the stride path, no chain at all.
///
/// Two paths from one base that have one window see the same elements, whatever views made them: that is
/// how updates of one place are told.
#pragma once

#include <byre/functional/functionalize/sight.hpp>
#include <byre/functional/functionalize/view_info.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

/// One view, behind those before it. Never changes once it is made, but for what its alias notes.
struct ViewLink final : Counted {
  using Handle = boost::intrusive_ptr<const ViewLink>;

  ViewLink(ViewInfo view, Handle earlier)
      : info(std::move(view)),
        before(std::move(earlier)),
        depth(before == nullptr ? 1 : before->depth + 1) {}
  /// Drops those that nobody else has one by one: a chain may be longer than the stack is deep.
  ~ViewLink() override;

  const ViewInfo info;
  mutable Handle before;  ///< null: the base. Changed by destruction alone
  const std::size_t depth;
  /// Of a tensor whose path ends here, the last that was used; null if it is gone. A note of the alias,
  /// whose lock guards it: it keeps nothing.
  mutable Sight* sight = nullptr;
};

/// A value. What it shares with others never changes.
class ViewPath {
 public:
  /// To the base itself.
  explicit ViewPath(const Window& base) : ViewPath({base.layout.sizes, base.dtype}, base) {}
  /// To any window of a base, by its strides.
  ViewPath(TensorMeta base, Window window)
      : base_(std::move(base)),
        window_(std::move(window)),
        is_base_(window_ == Window::of_all(base_.sizes, base_.dtype)) {}

  /// What is seen of the base.
  const Window& window() const noexcept { return window_; }
  const TensorMeta& base() const noexcept { return base_; }
  /// Whether it is the base, as it is.
  bool is_base() const noexcept { return is_base_; }
  /// The end of the chain; null on the stride path, and for the base.
  const ViewLink* last() const noexcept { return last_.get(); }
  /// How many views there are in the chain; 0 on the stride path.
  std::size_t depth() const noexcept;

  /// The paths to the outputs that the view `op` makes of this, whose windows it says: of each its own
  /// part alone, so that N parts cost O(N). By strides if `strides` says so, or for a view that is known
  /// by no operator of the eight.
  std::vector<ViewPath> through(const Operator& op, std::span<const Argument> arguments,
                                bool strides) const;
  /// The path to another window of the same base.
  ViewPath by_strides(Window window) const { return ViewPath(base_, std::move(window)); }

  /// What is seen of `base`. O(depth).
  AnyTensor replay(const AnyTensor& base, Remove remove) const;
  /// `base` with `updated` where this sees it, of a window that does not overlap itself. O(depth). Takes
  /// over `base`, whose sole handle may be written in place; where it throws, `base` is what it was.
  AnyTensor put_back(AnyTensor& base, const AnyTensor& updated) const;

 private:
  /// From the base on.
  std::vector<const ViewInfo*> chain() const;

  TensorMeta base_;
  Window window_;
  bool is_base_;
  ViewLink::Handle last_;  ///< null: by strides, or the base itself
  /// Some view in the chain sees an element twice, of which the others behind it may not: expand, then
  /// select. Inverted one by one, such views would not say which of the two was written; strides do.
  bool repeats_ = false;
};

}  // namespace byre::inline v0::functional
