// SPDX-License-Identifier: BSL-1.0
// Reads, writes and converts elements of any dtype, as core/byre/tensor/elements/detail/convert.hpp
// does. A shader computes in one of four domains: DOMAIN is 0 for integers and bool, 1 for f32, f16
// and bf16, 2 for f64, 3 for complex64. With DOUBLES, which needs the feature shaderFloat64, every
// domain reads and writes f64.
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// In the order of byre::DType, followed by two types of values outside of buffers.
const uint boolean = 0u, u8 = 1u, i8 = 2u, i16 = 3u, i32 = 4u, i64 = 5u, f16 = 6u, bf16 = 7u, f32 = 8u, f64 = 9u,
           complex64 = 10u;
const uint number = 11u;  // a number in the parameters
const uint element_index = 12u;

#if DOMAIN == 0
#define Value int64_t
#elif DOMAIN == 1
#define Value float
#elif DOMAIN == 2
#define Value double
#else
#define Value vec2
#endif

uint size_of(uint type) {
  return type <= i8 ? 1u : type == i16 || type == f16 || type == bf16 ? 2u : type == i32 || type == f32 ? 4u : 8u;
}

// One buffer as elements of each size. The bits of an element are in one or two words.
#define ELEMENTS(n, name, access)                                                       \
  layout(std430, set = 0, binding = n) access buffer name##Bytes { uint8_t at[]; } name##_1;  \
  layout(std430, set = 0, binding = n) access buffer name##Halves { uint16_t at[]; } name##_2; \
  layout(std430, set = 0, binding = n) access buffer name##Words { uint at[]; } name##_4;      \
  layout(std430, set = 0, binding = n) access buffer name##Pairs { uvec2 at[]; } name##_8;

#define LOAD(name, type, index)                                    \
  (size_of(type) == 1u   ? uvec2(uint(name##_1.at[index]), 0u)     \
   : size_of(type) == 2u ? uvec2(uint(name##_2.at[index]), 0u)     \
   : size_of(type) == 4u ? uvec2(name##_4.at[index], 0u)           \
                         : name##_8.at[index])

#define STORE(name, type, index, bits)              \
  if (size_of(type) == 1u) {                        \
    name##_1.at[index] = uint8_t((bits).x);         \
  } else if (size_of(type) == 2u) {                 \
    name##_2.at[index] = uint16_t((bits).x);        \
  } else if (size_of(type) == 4u) {                 \
    name##_4.at[index] = (bits).x;                  \
  } else {                                          \
    name##_8.at[index] = bits;                      \
  }

// Handles subnormal numbers as integers, because a device may treat subnormal floats as 0.
float of_binary16(uint bits) {
  const uint sign = (bits & 0x8000u) << 16;
  const uint magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) {
    return uintBitsToFloat(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  }
  if (magnitude < 0x400u) {
    return uintBitsToFloat(sign | floatBitsToUint(float(magnitude) * uintBitsToFloat(0x33800000u)));
  }
  return uintBitsToFloat(sign | ((magnitude << 13) + 0x38000000u));
}

uint to_binary16(float value) {
  const uint bits = floatBitsToUint(value);
  const uint sign = bits >> 16 & 0x8000u;
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) {
    return sign | 0x7E00u | (magnitude >> 13 & 0x3FFu);
  }
  if (magnitude >= 0x477FF000u) {
    return sign | 0x7C00u;
  }
  if (magnitude < 0x38800000u) {
    precise float sum = uintBitsToFloat(magnitude) + 0.5;
    return sign | (floatBitsToUint(sum) - 0x3F000000u);
  }
  return sign | (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1u)) >> 13;
}

uint to_bfloat16(float value) {
  const uint bits = floatBitsToUint(value);
  return (bits & 0x7FFFFFFFu) > 0x7F800000u ? bits >> 16 | 0x40u : (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
}

int64_t integer_of(uint type, uvec2 bits) {
  switch (type) {
    case boolean:
      return int64_t(bits.x != 0u ? 1 : 0);
    case u8:
      return int64_t(bits.x);
    case i8:
      return int64_t(bitfieldExtract(int(bits.x), 0, 8));
    case i16:
      return int64_t(bitfieldExtract(int(bits.x), 0, 16));
    case i32:
      return int64_t(int(bits.x));
    default:
      return packInt2x32(ivec2(bits));
  }
}

float float_of(uint type, uvec2 bits) {
  switch (type) {
    case f16:
      return of_binary16(bits.x);
    case bf16:
      return uintBitsToFloat(bits.x << 16);
    case f32:
    case complex64:
      return uintBitsToFloat(bits.x);
    case i64:
      return float(packInt2x32(ivec2(bits)));
#ifdef DOUBLES
    case f64:
      return float(packDouble2x32(bits));
#endif
    default:
      return float(int(integer_of(type, bits)));
  }
}

#if DOMAIN == 3
// Read from memory: a compiler would remove a constant 0 from sums, which would lose the sign of
// other zeros.
float zero();
#endif

Value value_of(uint type, uvec2 bits) {
#if DOMAIN == 0
  return integer_of(type, bits);
#elif DOMAIN == 1
  return float_of(type, bits);
#elif DOMAIN == 2
  return type == f64    ? packDouble2x32(bits)
         : type <= i64 ? double(integer_of(type, bits))
                       : double(float_of(type, bits));
#else
  return type == complex64 ? uintBitsToFloat(bits) : vec2(float_of(type, bits), zero());
#endif
}

uvec2 float_bits(uint type, float value) {
  return uvec2(type == f16 ? to_binary16(value) : type == bf16 ? to_bfloat16(value) : floatBitsToUint(value), 0u);
}

#if DOMAIN == 2
#define Real double
#else
#define Real float
#endif
// Truncates. Returns the nearest integer of the type if the value is out of range, and 0 for NaN.
int64_t saturated(uint type, Real value) {
  const uint bits = 8u * size_of(type);
  const int64_t highest = type == u8 ? int64_t(255) : int64_t((uint64_t(1) << (bits - 1u)) - uint64_t(1));
  const int64_t lowest = type == u8 ? int64_t(0) : -highest - int64_t(1);
  const Real beyond = Real(highest / int64_t(2) + int64_t(1)) * Real(2);
  if (value >= beyond) {
    return highest;
  }
  if (value > Real(lowest)) {
    return int64_t(value);
  }
  return value <= Real(lowest) ? lowest : int64_t(0);
}

// Converts to the type of an element in memory.
uvec2 bits_of(uint type, Value value) {
#if DOMAIN == 3
  if (type == complex64) {
    return floatBitsToUint(value);
  }
  if (type == boolean) {
    return uvec2(value == vec2(0.0) ? 0u : 1u, 0u);
  }
  const float real = value.x;
#else
  if (type == boolean) {
    return uvec2(value == Value(0) ? 0u : 1u, 0u);
  }
  const Value real = value;
#endif
#ifdef DOUBLES
  if (type == f64) {
    return unpackDouble2x32(double(real));
  }
#endif
  if (type >= f16) {
    return float_bits(type, float(real));
  }
#if DOMAIN == 0
  return uvec2(unpackInt2x32(real));
#else
  return uvec2(unpackInt2x32(saturated(type, real)));
#endif
}

Value number_of(uvec2 bits) {
#if DOMAIN == 0
  return packInt2x32(ivec2(bits));
#elif DOMAIN == 1
  return uintBitsToFloat(bits.x);
#elif DOMAIN == 2
  return packDouble2x32(bits);
#else
  return uintBitsToFloat(bits);
#endif
}

// `precise`: a product and a sum must not be contracted to one operation.
Value plus(Value a, Value b) {
  precise Value sum = a + b;
  return sum;
}

Value times(Value a, Value b) {
#if DOMAIN == 3
  precise float ac = a.x * b.x;
  precise float bd = a.y * b.y;
  precise float ad = a.x * b.y;
  precise float bc = a.y * b.x;
  precise vec2 product = vec2(ac - bd, ad + bc);
#else
  precise Value product = a * b;
#endif
  return product;
}
