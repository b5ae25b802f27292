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

void save_over_a_file(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "tensor.npy";
  write_file(path, "what was there");
  const Tensor tensor = deep_tensor();
  attempt([&] { save_npy(path, tensor); }, [&] { return state_of(folder, path); });
}

void save_through_a_link(Attempt& attempt) {
  const TemporaryFolder folder;
  write_file(folder / "tensor.npy", "what was there");
  const auto path = folder / "link.npy";
  std::filesystem::create_symlink(folder / "tensor.npy", path);
  const Tensor tensor = deep_tensor().permute({5, 4, 3, 2, 1, 0});
  attempt([&] { save_npy(path, tensor, {.byte_order = std::endian::big}); },
          [&] { return state_of(folder, path); });
}

/// A row of what reads a file of a deep tensor.
template <Tensor (*Load)(FileName)>
void load(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place.npy";
  save_npy(path, deep_tensor().permute({5, 4, 3, 2, 1, 0}));
  Tensor tensor;
  attempt([&] { tensor = Load(path); }, [&] { return described(tensor); });
}

void read_from_memory(Attempt& attempt) {
  const TemporaryFolder folder;
  save_npy(folder / "tensor.npy", deep_tensor());
  const std::string bytes = read_file(folder / "tensor.npy");
  Tensor tensor;
  attempt([&] { tensor = read_npy(std::as_bytes(std::span(bytes))); },
          [&] { return described(tensor); });
}

/// Of names and metadata that are longer than what strings have in place.
NamedTensors deep_tensors() {
  return {{"a name that is longer than what strings have in place", deep_tensor()},
          {"another", deep_tensor().permute({5, 4, 3, 2, 1, 0})},
          {"none", Tensor::empty({0}, DType::f32)}};
}

std::string described_tensors(const NamedTensors& tensors) {
  std::string text;
  for (const auto& [name, tensor] : tensors) {
    text += name + ": " + described(tensor) + "\n";
  }
  return text;
}

#if BYRE_NPZ
template <NpzCompression compression>
void save_archive(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "tensors.npz";
  write_file(path, "what was there");
  const NamedTensors tensors = deep_tensors();
  attempt([&] { save_npz(path, tensors, compression); }, [&] { return state_of(folder, path); });
}

template <NamedTensors (*Load)(FileName), NpzCompression compression>
void load_archive(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place.npz";
  save_npz(path, deep_tensors(), compression);
  NamedTensors tensors;
  attempt([&] { tensors = Load(path); }, [&] { return described_tensors(tensors); });
}

void read_archive_from_memory(Attempt& attempt) {
  const TemporaryFolder folder;
  save_npz(folder / "tensors.npz", deep_tensors());
  const std::string bytes = read_file(folder / "tensors.npz");
  NamedTensors tensors;
  attempt([&] { tensors = read_npz(std::as_bytes(std::span(bytes))); },
          [&] { return described_tensors(tensors); });
}
#endif

using Notes = std::vector<std::pair<std::string, std::string>>;

Notes long_notes() {
  return {{"a key that is longer than what strings have in place", "and a value that is so, too"}};
}

void save_model_over_a_file(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  write_file(path, "what was there");
  const NamedTensors tensors = deep_tensors();
  const Notes metadata = long_notes();
  attempt([&] { save_safetensors(path, tensors, metadata); },
          [&] { return state_of(folder, path); });
}

std::string described_model(const SafetensorsFile& file) {
  std::string text;
  for (const auto& [key, value] : file.metadata) {
    text += key + ": " + value + "\n";
  }
  return text + described_tensors(file.tensors);
}

/// A row of what reads a model.
template <SafetensorsFile (*Load)(FileName)>
void load_model(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "a name that is longer than what strings have in place.safetensors";
  save_safetensors(path, deep_tensors(), long_notes());
  SafetensorsFile file;
  attempt([&] { file = Load(path); }, [&] { return described_model(file); });
}

void load_model_that_is_not_aligned(Attempt& attempt) {
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  save_safetensors(path, deep_tensors(), long_notes());
  std::string bytes = read_file(path);
  ++bytes[0];
  bytes.insert(9, " ");
  write_file(path, bytes);
  SafetensorsFile file;
  attempt([&] { file = map_safetensors(path); }, [&] { return described_model(file); });
}

/// A row of what reads it from memory.
template <class Read>
void read_model(Attempt& attempt, const Read& read) {
  const TemporaryFolder folder;
  save_safetensors(folder / "model.safetensors", deep_tensors(), long_notes());
  const std::string bytes = read_file(folder / "model.safetensors");
  SafetensorsFile file;
  attempt([&] { file = read(std::as_bytes(std::span(bytes))); },
          [&] { return described_model(file); });
}

void read_model_from_memory(Attempt& attempt) {
  read_model(attempt, [](std::span<const std::byte> bytes) { return read_safetensors(bytes); });
}

void parse_header_of_model(Attempt& attempt) {
  read_model(attempt, [](std::span<const std::byte> bytes) {
    return SafetensorsFile{{}, parse_safetensors_header(bytes, bytes.size()).metadata};
  });
}

void refuse_model(Attempt& attempt) {
  using namespace std::string_view_literals;
  const auto bytes = "\x0d\0\0\0\0\0\0\0{\"a\":{\"b\":0}}"sv;
  attempt([&] {
    refused<FileError>(
        [&] { static_cast<void>(read_safetensors(std::as_bytes(std::span(bytes)))); });
  });
}

std::string header_text() {
  return npy_header(DType::f32, {1, 2, 1, 2, 1, 3});
}

void parse_header(Attempt& attempt) {
  const std::string text = header_text();
  Dims sizes;
  attempt([&] { sizes = parse_npy_header(std::as_bytes(std::span(text))).sizes; },
          [&] { return described(sizes); });
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
    of_nothing("Tensor::empty",
               [] {
                 return Tensor::empty({1, 1, 1, 1, 1, 2}, DType::f32).sizes();
               }),
    of_nothing("Tensor::zeros",
               [] {
                 return Tensor::zeros({1, 1, 1, 1, 1, 2}, DType::f32);
               }),
    of_nothing("Tensor::of",
               [] {
                 return Tensor::of<float>({1, 1, 1, 1, 1, 2}, {3, 4});
               }),
    of_tensor("Tensor::over",
              [](T& x) {
                return Tensor::over(x.storage(), {1, 1, 1, 1, 1, 2}, DType::f32);
              }),
    of_tensor("Tensor::size", [](T& x) { return std::to_string(x.size(-1)); }),
    of_tensor("Tensor::resize",
              [](T& x) {
                return x.resize({1, 1, 1, 1, 1, 2});
              }),
    of_tensor("Tensor::resize",
              [](T& x) {
                return x.resize({1, 1, 1, 1, 1, 200});
              }),
    of_type("Tensor::realize", [](T& x) { x.realize(DType::i64); }),
    of_tensor("Tensor::free_memory", [](T& x) { return x.free_memory(); }),
    of_tensor("Tensor::reserve",
              [](T& x) {
                return x.reserve({7, 2, 7, 2, 7, 3});
              }),
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
    of_tensor("Tensor::reshape",
              [](T& x) {
                return x.reshape({1, 1, 1, 1, 1, -1});
              }),
    of_tensor("Tensor::reshape",
              [](T& x) {
                const shadow::ReshapeModeScope tracked(shadow::ReshapeMode::warn);
                return x.reshape({1, 1, 1, 1, 1, -1});
              }),
    of_tensor("Tensor::reshape_",
              [](T& x) {
                return x.reshape_({1, 1, 1, 1, 1, -1});
              }),
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
    of_tensor("sum",
              [](T& x) {
                return sum(x, {0, 1, 2, 3, 4, 5}, true);
              }),
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
    of_tensor("flip",
              [](T& x) {
                return flip(x, {0, 1, 2, 3, 4, 5});
              }),

    of_tensor("to_string", [](T& x) { return to_string(x, {.threshold = 3, .type = true}); }),
    of_tensor("to_string", [](T& x) { return to_string(x.sizes()); }),
    {"operator<<", write_to_stream},
    of_nothing("npy_header", [] { return header_text(); }),
    {"parse_npy_header", parse_header},
    {"load_npy", load<load_npy>},
    {"map_npy", load<map_npy>},
    {"read_npy", read_from_memory},
    {"save_npy", save_over_a_file},
    {"save_npy", save_through_a_link},
#if BYRE_NPZ
    {"load_npz", load_archive<load_npz, NpzCompression::stored>},
    {"load_npz", load_archive<load_npz, NpzCompression::deflated>},
    {"map_npz", load_archive<map_npz, NpzCompression::stored>},
    {"map_npz", load_archive<map_npz, NpzCompression::deflated>},
    {"read_npz", read_archive_from_memory},
    {"save_npz", save_archive<NpzCompression::stored>},
    {"save_npz", save_archive<NpzCompression::deflated>},
#endif
    {"load_safetensors", load_model<load_safetensors>},
    {"map_safetensors", load_model<map_safetensors>},
    {"map_safetensors", load_model_that_is_not_aligned},
    {"parse_safetensors_header", parse_header_of_model},
    {"read_safetensors", read_model_from_memory},
    {"read_safetensors", refuse_model},
    {"save_safetensors", save_model_over_a_file},
};

}  // namespace tensors_rows

std::span<const Row> rows_of_tensors() {
  return tensors_rows::rows;
}

}  // namespace byre::test
