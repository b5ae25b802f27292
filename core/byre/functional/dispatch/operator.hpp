// SPDX-License-Identifier: BSL-1.0
/// Operator: a schema, and what is registered to compute it.
#pragma once

#include <byre/functional/dispatch/any_tensor.hpp>
#include <byre/functional/dispatch/argument.hpp>
#include <byre/functional/dispatch/key.hpp>
#include <byre/functional/dispatch/schema.hpp>
#include <byre/functional/dispatch/window.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace byre::inline v0::functional {

class Operator;

/// One call, whose arguments are as the schema says: all there, of the right types.
struct Call {
  const Operator& op;
  /// A kernel may move a tensor out of these once it cannot throw any more, or write one whose sole
  /// handle stands here in place of a copy.
  std::span<Argument> arguments;
};

/// What computes an operator for one key: answers the tensors that are returned, those of a list one
/// after the other. Of an operator that writes, only those that are new; the others are filled in.
using Kernel = std::function<Tensors(const Call&)>;

/// What a tensor is, without its elements.
struct TensorMeta {
  Dims sizes;
  DType dtype = DType::uninitialized;

  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
};

/// What a pure operator returns, told from what it is given. May throw what the kernel would.
using MetaRule = std::function<std::vector<TensorMeta>(const Call&)>;

/// The windows of the views that a view operator makes of one; arguments without the first.
using ViewRule = std::function<std::vector<Window>(const Window&, std::span<const Argument>)>;

/// Thread-safe: parts are added, and never taken away.
class Operator {
 public:
  explicit Operator(Schema schema) : schema_(std::move(schema)), name_(schema_.full_name()) {}
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  const Schema& schema() const noexcept { return schema_; }
  /// With its overload: "add_.scalar".
  const std::string& name() const noexcept { return name_; }

  // Null where nothing is registered.
  const Kernel* kernel(Key key) const noexcept;
  /// What computes it by other operators, for every key that has no kernel of its own.
  const Kernel* composite() const noexcept;
  const MetaRule* meta() const noexcept;
  const ViewRule* view() const noexcept;
  KeySet registered_keys() const noexcept;

 private:
  friend class Definition;
  friend const Operator& define_or_find(Schema schema, Key key, Kernel kernel);

  const Schema schema_;
  const std::string name_;
  std::array<std::unique_ptr<const Kernel>, key_count> kernels_;
  std::unique_ptr<const Kernel> composite_;
  std::unique_ptr<const MetaRule> meta_;
  std::unique_ptr<const ViewRule> view_;
};

}  // namespace byre::inline v0::functional
