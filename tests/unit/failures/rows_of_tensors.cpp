// SPDX-License-Identifier: BSL-1.0
// Tensors of their own, operations on elements, text and files.
#include <byre/interop/npy.hpp>
#include <byre/interop/npz.hpp>
#include <byre/interop/safetensors.hpp>
#include <byre/tensor/devices.hpp>
#include <byre/tensor/elements.hpp>
#include <byre/tensor/view_geometry.hpp>

#include <filesystem>
#include <sstream>

#include "rows.hpp"
#include "support/failing_allocator.hpp"
#include "support/temporary_folder.hpp"

namespace byre::test {
namespace tensors_rows {

using T = Tensor;

class OtherMemory final : public DeviceSupport {
 public:
  explicit OtherMemory(Device device) : allocator_(device) {}
  Allocator& allocator() noexcept override { return allocator_; }
  void copy_to_host(void* to, const void* from, std::size_t nbytes) override {
    std::memcpy(to, from, nbytes);
  }
  void copy_from_host(void* to, const void* from, std::size_t nbytes) override {
    std::memcpy(to, from, nbytes);
  }
  const char* name() const noexcept override { return "other memory"; }

 private:
  FailingAllocator allocator_;
};

void register_one(Attempt& attempt) {
  const Device device(7, static_cast<std::uint16_t>(attempt.number()));
  auto* const support = new OtherMemory(device);  // devices stay
  attempt([&] { register_device(device, *support); },
          [&] {
            const std::string text = describe(device).chars.data();
            return text.substr(text.find('('));
          });
}

/// A row of what leaves some elements indeterminate.
template <class Function>
Row of_type(const char* name, Function) {
  static_assert(std::is_empty_v<Function>);
  return {name, [](Attempt& attempt) {
            Tensor tensor = deep_tensor();
            attempt([&] { Function()(tensor); },
                    [&] { return described(tensor.sizes()) + name_of(tensor.dtype()); });
          }};
}

/// What is found under a file's name, and that nothing is beside it.
std::string state_of(const TemporaryFolder& folder, const std::filesystem::path& path) {
  const std::filesystem::directory_iterator files(folder.path());
  return std::to_string(std::distance(begin(files), end(files))) + " files, " +
         (std::filesystem::is_symlink(path) ? "a link to " : "") + read_file(path);
}

/// A row of what writes a file in place of one that is there, or through a link to it.
template <bool is_link = false, class Save>
Row of_saving(const char* name, Save) {
  return {name, [](Attempt& attempt) {
            const TemporaryFolder folder;
            write_file(folder / "file", "what was there");
            const auto path = folder / (is_link ? "link" : "file");
            if (is_link) {
              std::filesystem::create_symlink(folder / "file", path);
            }
            attempt([&] { Save()(path); }, [&] { return state_of(folder, path); });
          }};
}

std::string text_of(const Tensor& tensor) {
  return described(tensor);
}
std::string text_of(const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors) {
    text += name + ": " + described(tensor) + "\n";
  }
  return text;
}
std::string text_of(const SafetensorsFile& file) {
  std::string text;
  for (const auto& [key, value] : file.metadata) {
    text += key + ": " + value + "\n";
  }
  return text + text_of(file.tensors);
}

/// A file that was written, and what it holds.
struct Written {
  std::filesystem::path path;
  std::string bytes;
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }
};

/// A row of what `Load` makes of a file that `Save` wrote.
template <class Save, class Load>
Row of_loading(const char* name, Save, Load) {
  return {name, [](Attempt& attempt) {
            const TemporaryFolder folder;
            Written file{folder / "a name that is longer than what strings have in place", ""};
            Save()(file.path);
            file.bytes = read_file(file.path);
            std::optional<decltype(Load()(file))> loaded;
            attempt([&] { loaded.emplace(Load()(file)); },
                    [&] { return loaded ? text_of(*loaded) : ""; });
          }};
}

const Tensor& tensor_to_save() {
  static const Tensor tensor = deep_tensor().permute(reversed_axes);
  return tensor;
}
/// Of names and metadata that are longer than what strings have in place.
const NamedTensors& tensors_to_save() {
  static const NamedTensors tensors = {
      {"a name that is longer than what strings have in place", deep_tensor()},
      {"another", tensor_to_save()},
      {"none", Tensor::empty({0}, DType::f32)}};
  return tensors;
}
constexpr auto save_array = [](const auto& path) { save_npy(path, tensor_to_save()); };
constexpr auto save_model = [](const auto& path) {
  static const std::vector<std::pair<std::string, std::string>> metadata = {
      {"a key that is longer than what strings have in place", "and a value that is so, too"}};
  save_safetensors(path, tensors_to_save(), metadata);
};
constexpr auto save_model_that_is_not_aligned = [](const auto& path) {
  save_model(path);
  std::string bytes = read_file(path);
  ++bytes[0];
  bytes.insert(9, " ");
  write_file(path, bytes);
};
#if BYRE_NPZ
template <NpzCompression compression>
constexpr auto save_archive =
    [](const auto& path) { save_npz(path, tensors_to_save(), compression); };
constexpr auto save_stored = save_archive<NpzCompression::stored>;
constexpr auto save_deflated = save_archive<NpzCompression::deflated>;
#endif

std::string header_text() {
  return npy_header(DType::f32, deep_sizes);
}

void write_to_stream(Attempt& attempt) {
  const Tensor tensor = deep_tensor();
  std::ostringstream stream;
  stream << std::string(1000, ' ');  // room
  stream.seekp(0);
  attempt([&] { stream << tensor; }, [&] { return stream.str(); });
}

const Row rows[] = {
    of_nothing("Tensor::Tensor", [] { return Tensor(Device::cpu()); }),
    of_nothing("Tensor::empty", [] { return Tensor::empty(two_elements, DType::f32).sizes(); }),
    of_nothing("Tensor::zeros", [] { return Tensor::zeros(two_elements, DType::f32); }),
    of_nothing("Tensor::of",
               [] {
                 return Tensor::of<float>(two_elements, {3, 4});
               }),
    of_tensor("Tensor::over",
              [](T& x) { return Tensor::over(x.storage(), two_elements, DType::f32); }),
    of_tensor("Tensor::size", [](T& x) { return std::to_string(x.size(-1)); }),
    of_tensor("Tensor::resize", [](T& x) { return x.resize(two_elements); }),
    of_tensor("Tensor::resize",
              [](T& x) {
                return x.resize({1, 1, 1, 1, 1, 200});
              }),
    of_type("Tensor::realize", [](T& x) { x.realize(DType::i64); }),
    of_tensor("Tensor::free_memory", [](T& x) { return x.free_memory(); }),
    of_tensor("Tensor::reserve", [](T& x) { return x.reserve(sevens); }),
    of_type("Tensor::extend", [](T& x) { x.extend(7); }),
    of_tensor("Tensor::share_data", [](T& x) { return x.share_data(x.clone()); }),
    of_tensor("Tensor::share_external",
              [](T& x) {
                static float elements[12] = {};
                return x.share_external(elements, DType::f32, [](void*) {});
              }),
    of_tensor("Tensor::lazy_clone", [](T& x) { return x.lazy_clone(); }),
    of_tensor("Tensor::writable_clone", [](T& x) { return x.writable_clone(); }),
    of_tensor("Tensor::mutable_data",
              [](T& x) {
                Tensor clone = x.lazy_clone();
                clone.mutable_data<float>()[0] = 9;
                return clone;
              }),
    of_tensor("Tensor::mutable_data_in_parallel",
              [](T& x) {
                Tensor clone = x.lazy_clone();
                clone.mutable_data_in_parallel<float>()[0] = 9;
                return clone;
              }),
    of_tensor("Tensor::mutable_data_in_parallel",
              [](T& x) {
                refused<DTypeError>([&] { x.mutable_data_in_parallel<int>(); });
                Tensor without = x.clone();
                without.free_memory();
                refused<StateError>([&] { without.mutable_data_in_parallel<float>(); });
                return x;
              }),
    of_tensor("Tensor::clone", [](T& x) { return x.transpose(1, 5).clone(); }),
    of_tensor("Tensor::contiguous", [](T& x) { return x.transpose(1, 5).contiguous(); }),
    of_tensor("Tensor::reshape", [](T& x) { return x.reshape(all_elements); }),
    keeping_memory(of_tensor("Tensor::reshape",
                             [](T& x) {
                               const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
                               return x.reshape(all_elements);
                             })),
    of_tensor("Tensor::reshape_", [](T& x) { return x.reshape_(all_elements); }),
    of_tensor("Tensor::to", [](T& x) { return x.to(Device::cpu()); }),
    of_tensor("Tensor::at",
              [](T& x) {
                x.set_at<float>({0, 1, 0, 1, 0, 2}, 9);
                return std::to_string(x.at<float>({0, 1, 0, 1, 0, 2}));
              }),
    of_tensor("packed", [](T& x) { return packed(x.transpose(1, 5)); }),
    {"register_device", register_one},

    of_nothing("Scalar::to_tensor", [] { return Scalar(3).to_tensor(DType::f32); }),
    of_nothing("Scalar::fitting", [] { return Scalar(3).fitting(DType::f32, "test"); }),
    of_tensor("Scalar::beside", [](T& x) { return Scalar(3).beside(x, "test"); }),
    of_tensor("Scalar::compared_with", [](T& x) { return Scalar(3).compared_with(x, "test"); }),

    of_tensor("fill_", [](T& x) { return fill_(x, 7); }),
    of_tensor("zero_", [](T& x) { return zero_(x); }),
    of_tensor("copy_", [](T& x) { return copy_(x, neg(x.transpose(1, 3))); }),
    of_tensor("add", [](T& x) { return add(x, x.transpose(1, 3)); }),
    of_tensor("add", [](T& x) { return add(x, 1); }),
    of_tensor("add_", [](T& x) { return add_(x, x); }),
    of_tensor("sub", [](T& x) { return sub(1, x); }),
    of_tensor("sub_", [](T& x) { return sub_(x, 1); }),
    of_tensor("mul", [](T& x) { return mul(x, x); }),
    of_tensor("mul_", [](T& x) { return mul_(x, x); }),
    of_tensor("div", [](T& x) { return div(x, 2); }),
    of_tensor("div_", [](T& x) { return div_(x, 2); }),
    of_tensor("neg", [](T& x) { return neg(x); }),
    of_tensor("neg_", [](T& x) { return neg_(x); }),
    of_tensor("relu", [](T& x) { return relu(x); }),
    of_tensor("relu_", [](T& x) { return relu_(x); }),
    of_tensor("exp", [](T& x) { return exp(x); }),
    of_tensor("exp_", [](T& x) { return exp_(x); }),
    of_tensor("eq", [](T& x) { return eq(x, 3); }),
    of_tensor("ge", [](T& x) { return ge(x, x); }),
    of_tensor("where", [](T& x) { return where(ge(x, 3), x, 0); }),
    of_tensor("sum", [](T& x) { return sum(x); }),
    of_tensor("sum", [](T& x) { return sum(x, all_axes, true); }),
    of_tensor("sum",
              [](T& x) {
                Tensor many = x;
                while (many.ndim() < 20) {
                  many = many.unsqueeze(0);
                }
                return sum(many, {1, 2, 3, 15});
              }),
    of_tensor("matmul", [](T& x) { return matmul(x, x.transpose(4, 5)); }),
    of_tensor("cat",
              [](T& x) {
                return cat({x, x}, 1);
              }),
    of_tensor("flip", [](T& x) { return flip(x, all_axes); }),

    of_tensor("to_string", [](T& x) { return to_string(x, {.threshold = 3, .type = true}); }),
    of_tensor("to_string", [](T& x) { return to_string(x.sizes()); }),
    {"operator<<", write_to_stream},
    of_nothing("npy_header", [] { return header_text(); }),
    of_nothing("parse_npy_header",
               [] {
                 static const std::string text = header_text();
                 return parse_npy_header(std::as_bytes(std::span(text))).sizes;
               }),
    of_loading("load_npy", save_array, [](auto& file) { return load_npy(file.path); }),
    of_loading("map_npy", save_array, [](auto& file) { return map_npy(file.path); }),
    of_loading("read_npy", save_array, [](auto& file) { return read_npy(file.span()); }),
    of_saving("save_npy", save_array),
    of_saving<true>("save_npy",
                    [](const auto& path) {
                      save_npy(path, tensor_to_save(), {.byte_order = std::endian::big});
                    }),
#if BYRE_NPZ
    of_loading("load_npz", save_stored, [](auto& file) { return load_npz(file.path); }),
    of_loading("load_npz", save_deflated, [](auto& file) { return load_npz(file.path); }),
    of_loading("map_npz", save_stored, [](auto& file) { return map_npz(file.path); }),
    of_loading("map_npz", save_deflated, [](auto& file) { return map_npz(file.path); }),
    of_loading("read_npz", save_stored, [](auto& file) { return read_npz(file.span()); }),
    of_saving("save_npz", save_stored),
    of_saving("save_npz", save_deflated),
#endif
    of_loading("load_safetensors", save_model,
               [](auto& file) { return load_safetensors(file.path); }),
    of_loading("map_safetensors", save_model,
               [](auto& file) { return map_safetensors(file.path); }),
    of_loading("map_safetensors", save_model_that_is_not_aligned,
               [](auto& file) { return map_safetensors(file.path); }),
    of_loading("parse_safetensors_header", save_model,
               [](auto& file) {
                 auto header = parse_safetensors_header(file.span(), file.bytes.size());
                 return SafetensorsFile{{}, std::move(header.metadata)};
               }),
    of_loading("read_safetensors", save_model,
               [](auto& file) { return read_safetensors(file.span()); }),
    of_nothing("read_safetensors",
               [] {
                 using namespace std::string_view_literals;
                 const auto bytes = "\x0d\0\0\0\0\0\0\0{\"a\":{\"b\":0}}"sv;
                 refused<FileError>(
                     [&] { (void)read_safetensors(std::as_bytes(std::span(bytes))); });
                 return std::string();
               }),
    of_saving("save_safetensors", save_model),
};

}  // namespace tensors_rows

std::span<const Row> rows_of_tensors() {
  return tensors_rows::rows;
}

}  // namespace byre::test
