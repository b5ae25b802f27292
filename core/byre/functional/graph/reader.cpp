// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/call.hpp>
#include <byre/functional/dispatch/scanner.hpp>
#include <byre/functional/graph/contents.hpp>
#include <byre/functional/graph/file.hpp>
#include <byre/functional/graph/text.hpp>
#include <byre/functional/operators/twins.hpp>

#include <type_traits>
#include <utility>

namespace byre::inline v0::functional {
namespace {

/// Also the pure form of one that writes, which is made when it is first needed.
const Operator& operator_named(const std::string& name) {
  constexpr std::string_view suffix = "_functional";
  const std::size_t end = std::min(name.find('.'), name.size());
  if (const std::size_t at = name.rfind(suffix, end);
      find_if_any(name) == nullptr && at != std::string::npos && at + suffix.size() == end) {
    const Operator* const writes = find_if_any(name.substr(0, at) + name.substr(end));
    if (writes != nullptr && writes->effect() == Effect::write) {
      pure_form(*writes);
    }
  }
  return find(name);
}

/// Records what the text says, so that what is recorded is checked as any program is.
class GraphReader {
 public:
  GraphReader(std::string_view text, std::string_view source, Recording::Views views)
      : scanner_(text, source, true), recording_(views) {}

  Graph read() {
    scanner_.skip_lines();
    read_inputs();
    while (!scanner_.accept("return")) {
      read_node();
    }
    Tensors outputs;
    if (scanner_.is_at("%")) {
      outputs = used_values();
    }
    end_line();
    if (!scanner_.is_at_end()) {
      scanner_.expected("the end");
    }
    return recording_.capture(outputs);
  }

 private:
  /// A value that is made, and what the text says of it.
  struct Result {
    TensorMeta meta;
    std::size_t position;
  };

  /// What `function` returns; what it refuses is wrong there in the text.
  template <class Function>
  std::invoke_result_t<const Function&> checked_at(std::size_t position, const Function& function) {
    try {
      return function();
    } catch (const SyntaxError&) {
      throw;
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      scanner_.fail(error.what(), position);
    }
  }

  void read_inputs() {
    scanner_.expect("graph");
    scanner_.expect("(");
    if (!scanner_.accept(")")) {
      do {
        read_input();
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
    scanner_.expect(":");
    end_line();
  }

  void read_input() {
    new_number(values_.size());
    const std::string name = scanner_.is_at_identifier() ? scanner_.identifier("a name") : "";
    scanner_.expect(":");
    const std::size_t begin = scanner_.position();
    const TensorMeta meta = read_meta();
    values_.push_back(
        checked_at(begin, [&] { return recording_.input(meta.sizes, meta.dtype, name); }));
  }

  void read_node() {
    std::vector<Result> results;
    do {
      new_number(values_.size() + results.size());
      scanner_.expect(":");
      const std::size_t position = scanner_.position();
      results.push_back({read_meta(), position});
    } while (scanner_.accept(","));
    scanner_.expect("=");
    const std::size_t begin = scanner_.position();
    std::string name = scanner_.identifier("an operator, or constant");
    const Tensors made = name == "constant" && !scanner_.is_at("(")
                             ? Tensors{read_constant(results.front().meta)}
                             : read_call(std::move(name), begin);
    if (made.size() != results.size()) {
      scanner_.fail("this has " + std::to_string(made.size()) + " results, and not " +
                        std::to_string(results.size()),
                    begin);
    }
    for (std::size_t index = 0; index < made.size(); ++index) {
      expect_meta(made[index], results[index]);
      values_.push_back(made[index]);
    }
    end_line();
  }

  void expect_meta(const AnyTensor& made, const Result& said) {
    if (TensorMeta{made.sizes(), made.dtype()} != said.meta) {
      scanner_.fail("this is " + describe(made), said.position);
    }
  }

  AnyTensor read_constant(const TensorMeta& meta) {
    const std::size_t begin = scanner_.position();
    const std::string contents =
        scanner_.is_at("x") ? scanner_.identifier("its contents") : std::string();
    if (contents.empty()) {
      scanner_.expected("the contents of the constant, x and two digits for each byte");
    }
    return checked_at(begin, [&] {
      const auto numel = contiguous_layout(meta.sizes, "constant").numel();
      const std::size_t nbytes =
          byre::detail::byte_count(numel, byre::itemsize(meta.dtype), "constant");
      if (contents.size() / 2 != nbytes || contents.size() % 2 == 0) {
        scanner_.fail(detail::to_string(meta) + " has " + std::to_string(nbytes) +
                          " bytes, of two digits each, and these are " +
                          std::to_string(contents.size() - 1) + " digits",
                      begin);
      }
      return recording_.constant(detail::tensor_of_contents(contents, meta.sizes, meta.dtype));
    });
  }

  Tensors read_call(std::string name, std::size_t begin) {
    if (scanner_.accept(".")) {
      name += "." + scanner_.identifier("the name of an overload");
    }
    const Operator& op =
        checked_at(begin, [&]() -> const Operator& { return operator_named(name); });
    Arguments arguments;
    scanner_.expect("(");
    if (!scanner_.accept(")")) {
      do {
        arguments.push_back(read_argument());
      } while (scanner_.accept(","));
      scanner_.expect(")");
    }
    return checked_at(begin, [&] {
      Arguments checked = checked_arguments(op.schema(), std::move(arguments));
      return recording_.record({op, checked});
    });
  }

  Argument read_argument() {
    if (scanner_.is_at("%")) {
      return used_value();
    }
    if (scanner_.accept("uninitialized")) {
      return DType::uninitialized;
    }
    if (scanner_.is_at("[%")) {
      scanner_.expect("[");
      Tensors values = used_values();
      scanner_.expect("]");
      return values;
    }
    return Argument(scanner_.constant());
  }

  TensorMeta read_meta() {
    const std::size_t begin = scanner_.position();
    const Constant dtype = scanner_.is_at_identifier() ? scanner_.constant() : Constant();
    if (!std::holds_alternative<DType>(dtype)) {
      scanner_.fail("expected a dtype", begin);
    }
    const Constant sizes = scanner_.is_at("[") ? scanner_.constant() : Constant();
    if (!std::holds_alternative<Dims>(sizes)) {
      scanner_.expected("sizes");
    }
    return {std::get<Dims>(sizes), std::get<DType>(dtype)};
  }

  /// The number of the next value, which is `expected`.
  void new_number(std::size_t expected) {
    const std::size_t begin = scanner_.position();
    const std::int64_t number = read_number();
    if (number != static_cast<std::int64_t>(expected)) {
      scanner_.fail("values are numbered in order, each is made once, and the next is %" +
                        std::to_string(expected),
                    begin);
    }
  }

  AnyTensor used_value() {
    const std::size_t begin = scanner_.position();
    const std::int64_t number = read_number();
    if (number < 0 || number >= std::ssize(values_)) {
      scanner_.fail("there is no value of this number yet", begin);
    }
    return values_[static_cast<std::size_t>(number)];
  }

  Tensors used_values() {
    Tensors values;
    do {
      values.push_back(used_value());
    } while (scanner_.accept(","));
    return values;
  }

  std::int64_t read_number() {
    if (!scanner_.accept("%")) {
      scanner_.expected("a value, as %0, or return");
    }
    return scanner_.integer("the number of a value");
  }

  void end_line() {
    if (!scanner_.is_at_end() && scanner_.peek() != '\n') {
      scanner_.expected("the end of the line");
    }
    scanner_.skip_lines();
  }

  Scanner scanner_;
  const Recording recording_;
  Tensors values_;
};

}  // namespace

Graph read_graph(std::string_view text, std::string_view source, Recording::Views views) {
  return GraphReader(text, source, views).read();
}

}  // namespace byre::inline v0::functional
