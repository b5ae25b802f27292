// SPDX-License-Identifier: BSL-1.0
/// Operator: a schema, and what is registered to compute it.
#pragma once

#include <byre/config.hpp>
#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/argument.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/functional/dispatch/schema.hpp>
#include <byre/sync/detail/published.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

class Operator;
namespace detail {
class Registry;

/// A part of an operator, which goes with it.
template <class Part>
struct Owned : sync::detail::Published<const Part> {
  ~Owned() { delete this->get(); }
};

const Operator& functional_variant_of(const Operator& op);
}  // namespace detail

/// One call, whose arguments are as the schema says: all there, of the right types.
struct Call {
  const Operator& op;
  /// A kernel may move a tensor out of these once it cannot throw any more, or write one whose sole
  /// handle stands here in place of a copy.
  std::span<Argument> arguments;
};

/// What computes an operator for one key: answers the tensors that are returned, those of a list
/// one after the other. Of an operator that writes, only those that are new; the others are filled
/// in.
using Kernel = std::function<Tensors(const Call&)>;

/// What a tensor is, without its elements.
struct TensorMeta {
  Dims sizes;
  DType dtype = DType::uninitialized;

  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
};

/// What a pure operator returns for what it is given. May throw what the kernel would.
using MetaRule = std::function<std::vector<TensorMeta>(const Call&)>;

/// The geometries of the views that a view operator makes of one. The arguments are those behind
/// the first.
using ViewRule =
    std::function<std::vector<ViewGeometry>(const ViewGeometry&, std::span<const Argument>)>;

/// What passes and backends may rely on, beside the schema.
enum class Tag : std::uint8_t {
  /// From element to element, of operands that broadcast.
  pointwise,
  /// With one dimension more in front of every tensor, and its Axis arguments one further, it does
  /// the same for each index of that dimension: so vmap() computes a batch at once.
  axis_shift,
};

/// Thread-safe; what is asked is wait-free: parts are added, and never taken away. Once it is found
/// in the registry it lives as long as the program.
class BYRE_API Operator {
 public:
  explicit Operator(Schema schema);
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const Schema& schema() const noexcept { return schema_; }
  /// With its overload: "add_.scalar".
  const std::string& name() const noexcept { return name_; }
  Effect effect() const noexcept { return effect_; }
  /// The parameters that are written, by index.
  const std::vector<std::size_t>& written() const noexcept { return written_; }

  // Null where nothing is registered.
  const Kernel* kernel(Key key) const noexcept {
    return kernels_[static_cast<std::size_t>(key)].get();
  }
  /// What computes it by other operators, for every key that has no kernel of its own.
  const Kernel* composite() const noexcept { return composite_.get(); }
  const MetaRule* meta() const noexcept { return meta_.get(); }
  const ViewRule* view() const noexcept { return view_.get(); }
  bool has(Tag tag) const noexcept { return tag_.get() != nullptr && *tag_.get() == tag; }
  KeySet registered_keys() const noexcept;

  /// Of one that writes: the pure operator that computes what it writes, add of add_ and of
  /// add.out; or null.
  const Operator* functional_variant() const noexcept { return variant_with(Effect::none); }
  /// Of one that changes what its first argument sees: that view, transpose of transpose_; or null.
  const Operator* view_variant() const noexcept { return variant_with(Effect::view); }

 private:
  friend class Definition;
  friend class detail::Registry;

  friend const Operator& detail::functional_variant_of(const Operator& op);

  const Operator* variant_with(Effect effect) const noexcept {
    const Operator* const variant = variant_.get();
    return variant != nullptr && variant->effect() == effect ? variant : nullptr;
  }

  const Schema schema_;
  const std::string name_;
  const Effect effect_;
  const std::vector<std::size_t> written_;
  std::array<detail::Owned<Kernel>, key_count> kernels_;
  detail::Owned<Kernel> composite_;
  detail::Owned<MetaRule> meta_;
  detail::Owned<ViewRule> view_;
  detail::Owned<Tag> tag_;
  sync::detail::Published<const Operator> variant_;  // registered: the functional one, or the view
  detail::Owned<Operator> generated_;                // functional, where none is registered
  Operator* next_ = nullptr;  // in the registry; set before it is found there
};

}  // namespace byre::inline v0::functional
