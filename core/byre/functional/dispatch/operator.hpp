// SPDX-License-Identifier: BSL-1.0
/// Operator: a schema, and the kernels and rules that are registered for it. A kernel computes a
/// Call. View rules and meta rules describe the results of a call without computing elements.
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

namespace byre::inline BYRE_ABI::functional {

class Operator;
namespace detail {
class Registry;

/// A kernel or rule of an operator, freed with the operator. It is published once.
template <class Part>
struct Owned : sync::detail::Published<const Part> {
  ~Owned() { delete this->get(); }
};

const Operator& functional_variant_of(const Operator& op);
}  // namespace detail

/// One call of an operator. The arguments match the schema: none is missing, and all have the
/// declared types.
struct Call {
  const Operator& op;
  /// A kernel may move tensors out of the arguments once the kernel can no longer throw. A kernel
  /// may write into an argument, instead of into a copy, if no other handle refers to the tensor.
  std::span<Argument> arguments;
};

/// Computes an operator for one key. Returns the tensors that the operator returns; a list is
/// returned as its elements. If the operator writes, the kernel returns only the new tensors, and
/// dispatch() adds the written tensors.
using Kernel = std::function<Tensors(const Call&)>;

/// The sizes and dtype of a tensor.
struct TensorMeta {
  Dims sizes;
  DType dtype = DType::uninitialized;

  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
};

/// Returns the sizes and dtypes of a pure operator's results. May throw the errors of the kernel.
using MetaRule = std::function<std::vector<TensorMeta>(const Call&)>;

/// Returns the geometries (sizes, strides, offset and dtype) of a view operator's results. Takes
/// the geometry of the viewed tensor, which is the first argument, and the other arguments.
using ViewRule =
    std::function<std::vector<ViewGeometry>(const ViewGeometry&, std::span<const Argument>)>;

/// A property of an operator that passes and backends rely on, and that the schema cannot express.
enum class Tag : std::uint8_t {
  /// Each element of the result depends on one element of each operand; operands broadcast.
  pointwise,
  /// If each tensor gets an additional first dimension, and each Axis argument is increased by one,
  /// the result at each index of that dimension equals the operator's result for the tensors at
  /// that index. vmap() then computes a batch in one call.
  axis_shift,
};

/// A schema and what is registered for it. Kernels and rules are added, never removed. An operator
/// of the registry lives as long as the program.
///
/// Unless a member says otherwise: Thread-safe; wait-free. Cost: O(1). Throws nothing.
class BYRE_API Operator {
 public:
  /// Throws OutOfMemory. Most callers use define() instead.
  explicit Operator(Schema schema);
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const Schema& schema() const noexcept { return schema_; }
  /// Returns the name with the overload, such as "add_.scalar".
  const std::string& name() const noexcept { return name_; }
  Effect effect() const noexcept { return effect_; }
  /// The indices of the written parameters.
  const std::vector<std::size_t>& written() const noexcept { return written_; }

  // The next four members return null if nothing is registered.
  const Kernel* kernel(Key key) const noexcept {
    return kernels_[static_cast<std::size_t>(key)].get();
  }
  /// Returns the kernel that computes the operator by calling other operators. It serves all keys
  /// for which the operator has no kernel.
  const Kernel* composite() const noexcept { return composite_.get(); }
  const MetaRule* meta() const noexcept { return meta_.get(); }
  const ViewRule* view() const noexcept { return view_.get(); }
  bool has(Tag tag) const noexcept { return tag_.get() != nullptr && *tag_.get() == tag; }
  KeySet registered_keys() const noexcept;

  /// The pure operator that computes what this operator writes: add for add_ and for add.out. Null
  /// if this operator writes nothing, or if no such pure operator is registered.
  const Operator* functional_variant() const noexcept { return variant_with(Effect::none); }
  /// The view that this operator applies in place to its first argument: transpose for transpose_.
  /// Null if this operator applies no view.
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
  sync::detail::Published<const Operator> variant_;  // the registered functional variant or view
  detail::Owned<Operator> generated_;                // the generated functional variant
  Operator* next_ = nullptr;  // in the registry's list; set before the operator can be found
};

}  // namespace byre::inline BYRE_ABI::functional
