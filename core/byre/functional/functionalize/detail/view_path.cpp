// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/functionalize/detail/view_path.hpp>

#include <algorithm>

namespace byre::inline BYRE_ABI::functional {

ViewLink::~ViewLink() {
  while (before != nullptr && before->handle_count() == 1) {
    before = Handle(std::move(before->before));
  }
}

std::vector<const ViewInfo*> ViewPath::chain() const {
  std::vector<const ViewInfo*> infos;
  for (const ViewLink* link = last_.get(); link != nullptr; link = link->before.get()) {
    infos.push_back(&link->info);
  }
  std::reverse(infos.begin(), infos.end());
  return infos;
}

std::vector<ViewPath> ViewPath::through(const Operator& op, std::span<const Argument> arguments,
                                        bool strides) const {
  const std::vector<ViewGeometry> geometries = (*op.view())(geometry_, arguments);
  std::vector<ViewPath> paths;
  paths.reserve(geometries.size());
  // A view of a path by strides cannot be a chain either.
  const bool has_chain = !strides && (last_ != nullptr || is_base());
  std::int64_t start = 0;
  for (const ViewGeometry& geometry : geometries) {
    ViewPath path = by_strides(geometry);
    if (auto infos =
            has_chain ? canonical_views(op, arguments, geometry_, geometry, start) : std::nullopt) {
      path.last_ = last_;
      for (ViewInfo& info : *infos) {
        path.last_ = make_counted<ViewLink>(std::move(info), path.last_);
      }
    }
    if (path.is_base()) {
      path.last_ = nullptr;  // the views together have no effect
    }
    path.repeats_elements_ =
        path.last_ != nullptr && (repeats_elements_ || path.geometry_.overlaps_itself());
    paths.push_back(std::move(path));
  }
  return paths;
}

AnyTensor ViewPath::replay(const AnyTensor& base, bool reapply_views) const {
  AnyTensor value = base;
  if (last_ == nullptr && !is_base()) {
    for (const ViewInfo& info : views_by_strides(base_, geometry_)) {
      value = info.replay(value, reapply_views);
    }
  }
  for (const ViewInfo* const info : chain()) {
    value = info->replay(value, reapply_views);
  }
  return value;
}

AnyTensor ViewPath::apply_inverse(AnyTensor& base, const AnyTensor& updated) const {
  if (geometry_.layout.numel() == 0) {
    return base;  // an expand to no elements has no inverse and ends here too
  }
  std::vector<ViewInfo> by_strides_alone;
  std::vector<const ViewInfo*> infos;
  if (last_ == nullptr || repeats_elements_) {
    if (is_base()) {
      return updated;
    }
    by_strides_alone = views_by_strides(base_, geometry_);
    for (const ViewInfo& info : by_strides_alone) {
      infos.push_back(&info);
    }
  } else {
    infos = chain();
  }
  // Inverses need the values that the views had before the update, but only up to the last view
  // that does not see all elements.
  std::size_t needed = infos.size();
  while (needed > 0 && infos[needed - 1]->sees_all_elements()) {
    --needed;
  }
  Tensors seen;
  for (std::size_t index = 0; index + 1 < needed; ++index) {
    const AnyTensor& of = index == 0 ? base : seen.back();
    seen.push_back(infos[index]->replay(of, false));
  }
  AnyTensor value = updated;
  for (std::size_t index = infos.size(); index-- > 0;) {
    AnyTensor none;
    AnyTensor& of = index >= needed ? none : index == 0 ? base : seen[index - 1];
    value = infos[index]->invert(of, value);
  }
  return value;
}

}  // namespace byre::inline BYRE_ABI::functional
