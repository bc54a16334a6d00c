// Every attribute against its table: our codec, the specification's offsets and libibmad's own
// codec must agree on every field, alone and together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/rng.h"
#include "tests/unit/mad/attribute_specs.h"

namespace smd::spec {
namespace {

template <class T>
void libibmad_write(Bytes& bytes, const Field<T>& field, std::uint64_t value) {
  if (field.width > 32) {
    mad_set_field64(bytes.data(), field.libibmad_base, field.libibmad, value);
  } else {
    mad_set_field(
        bytes.data(), field.libibmad_base, field.libibmad, static_cast<std::uint32_t>(value));
  }
}

template <class T>
std::uint64_t libibmad_read(Bytes& bytes, const Field<T>& field) {
  return field.width > 32 ? mad_get_field64(bytes.data(), field.libibmad_base, field.libibmad)
                          : mad_get_field(bytes.data(), field.libibmad_base, field.libibmad);
}

std::vector<std::uint64_t> sample_values(std::size_t width, Rng& rng) {
  return {all_ones(width),
          1,
          std::uint64_t{1} << (width - 1),
          rng.next() & all_ones(width),
          rng.next() & all_ones(width)};
}

template <class T>
Bytes encoded(const Attribute<T>& attribute, const T& value) {
  Bytes bytes(attribute.size, std::byte{0xee});
  attribute.encode(value, bytes);
  return bytes;
}

/// `changed` holds `value`, every other field of `decoded` is zero.
template <class T>
void expect_only(const Attribute<T>& attribute,
                 const Field<T>& changed,
                 std::uint64_t value,
                 const T& decoded) {
  T wanted = attribute.blank();
  changed.set(wanted, value);
  EXPECT_EQ(changed.get(decoded), value) << changed.name;
  for (const Field<T>& other : attribute.fields) {
    EXPECT_EQ(other.get(decoded), other.get(wanted)) << changed.name << " moved " << other.name;
  }
  EXPECT_TRUE(decoded == wanted) << changed.name;
}

TEST(AttributeTables, FieldsNeitherOverlapNorLeaveTheAttribute) {
  for_each_attribute([](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    std::vector<bool> taken(attribute.size * 8);
    for (const auto& field : attribute.fields) {
      for (std::size_t bit = field.offset; bit < field.offset + field.width; ++bit) {
        ASSERT_LT(bit, attribute.extent * 8) << field.name;
        EXPECT_FALSE(taken[bit]) << field.name << " at bit " << bit;
        taken[bit] = true;
      }
    }
  });
}

TEST(AttributeCodec, ReadsEachFieldFromWhereTheSpecificationPutsIt) {
  Rng rng(1);
  for_each_attribute([&rng](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    for (const auto& field : attribute.fields) {
      for (const std::uint64_t value : sample_values(field.width, rng)) {
        Bytes bytes = attribute.blank_bytes();
        write_bits(bytes, field.offset, field.width, value);
        const auto decoded = attribute.decode(bytes);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().context;
        expect_only(attribute, field, value, *decoded);
      }
    }
  });
}

TEST(AttributeCodec, WritesEachFieldToWhereTheSpecificationPutsItAndNowhereElse) {
  Rng rng(2);
  for_each_attribute([&rng](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    for (const auto& field : attribute.fields) {
      for (const std::uint64_t value : sample_values(field.width, rng)) {
        auto changed = attribute.blank();
        field.set(changed, value);
        Bytes wanted = attribute.blank_bytes();
        write_bits(wanted, field.offset, field.width, value);
        EXPECT_EQ(encoded(attribute, changed), wanted) << field.name << " = " << value;
      }
    }
  });
}

TEST(AttributeCodec, CutsValuesThatDoNotFitSoThatNeighboursSurvive) {
  for_each_attribute([](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    for (const auto& field : attribute.fields) {
      if (field.name == "hop count") continue;  // 8 bits on the wire; a rule, not a width
      auto changed = attribute.blank();
      field.set(changed, ~std::uint64_t{0});
      Bytes wanted = attribute.blank_bytes();
      write_bits(wanted, field.offset, field.width, all_ones(field.width));
      EXPECT_EQ(encoded(attribute, changed), wanted) << field.name;
    }
  });
}

TEST(AttributeCodec, ReadsWhatLibibmadWrites) {
  Rng rng(3);
  std::size_t compared = 0;
  for_each_attribute([&](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    for (const auto& field : attribute.fields) {
      if (field.libibmad == IB_NO_FIELD) continue;
      ++compared;
      for (const std::uint64_t value : sample_values(field.width, rng)) {
        Bytes bytes = attribute.blank_bytes();
        libibmad_write(bytes, field, value);
        const auto decoded = attribute.decode(bytes);
        ASSERT_TRUE(decoded.has_value()) << decoded.error().context;
        expect_only(attribute, field, value, *decoded);
      }
    }
  });
  EXPECT_GT(compared, 150u);
}

TEST(AttributeCodec, WritesWhatLibibmadReads) {
  Rng rng(4);
  for_each_attribute([&rng](const auto& attribute) {
    SCOPED_TRACE(attribute.name);
    for (const auto& field : attribute.fields) {
      if (field.libibmad == IB_NO_FIELD) continue;
      for (const std::uint64_t value : sample_values(field.width, rng)) {
        auto changed = attribute.blank();
        field.set(changed, value);
        Bytes bytes = encoded(attribute, changed);
        for (const auto& other : attribute.fields) {
          if (other.libibmad == IB_NO_FIELD) continue;
          const auto blank = attribute.blank_bytes();
          const std::uint64_t wanted =
              &other == &field ? value : read_bits(blank, other.offset, other.width);
          EXPECT_EQ(libibmad_read(bytes, other), wanted) << field.name << " seen as " << other.name;
        }
      }
    }
  });
}

TEST(AttributeCodec, AgreesWithLibibmadWhenEveryFieldIsRandom) {
  Rng rng(5);
  for (int round = 0; round < 50; ++round) {
    for_each_attribute([&rng](const auto& attribute) {
      SCOPED_TRACE(attribute.name);
      auto wanted = attribute.blank();
      Bytes bytes = attribute.blank_bytes();
      for (const auto& field : attribute.fields) {
        const std::uint64_t value = rng.next() & all_ones(field.width);
        field.set(wanted, value);
        if (field.libibmad != IB_NO_FIELD) {
          libibmad_write(bytes, field, value);
        } else {
          write_bits(bytes, field.offset, field.width, value);
        }
      }
      EXPECT_EQ(encoded(attribute, wanted), bytes);
      const auto decoded = attribute.decode(bytes);
      ASSERT_TRUE(decoded.has_value()) << decoded.error().context;
      EXPECT_TRUE(*decoded == wanted);
    });
  }
}

TEST(AttributeCodec, RefusesDataThatEndsEarlyAndNamesTheAttribute) {
  for_each_attribute([](const auto& attribute) {
    const Bytes bytes = attribute.blank_bytes();
    for (std::size_t size = 0; size < attribute.extent; ++size) {
      const auto decoded = attribute.decode(std::span(bytes).first(size));
      ASSERT_FALSE(decoded.has_value()) << attribute.name << " of " << size << " bytes";
      EXPECT_EQ(decoded.error().code, Errc::Malformed);
      EXPECT_THAT(decoded.error().context, testing::StartsWith(attribute.name));
      EXPECT_THAT(decoded.error().context, testing::HasSubstr(std::to_string(size) + " bytes"));
    }
    EXPECT_TRUE(attribute.decode(std::span(bytes).first(attribute.extent)).has_value())
        << attribute.name;
  });
}

TEST(AttributePrint, IsOneLineWhateverTheValues) {
  Rng rng(6);
  for_each_attribute([&rng](const auto& attribute) {
    for (int round = 0; round < 20; ++round) {
      auto value = attribute.blank();
      if (round > 0) {
        for (const auto& field : attribute.fields) field.set(value, rng.next());
      }
      const std::string line = attribute.print(value);
      EXPECT_FALSE(line.empty()) << attribute.name;
      EXPECT_THAT(line, testing::Not(testing::HasSubstr("\n")));
    }
  });
}

// Whole-array fields, which libibmad handles with another pair of functions.
TEST(Libibmad, TablesAreTheSameArrayOfBytes) {
  std::array<std::uint8_t, 64> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i] = static_cast<std::uint8_t>(i * 3 + 1);
  Bytes bytes(64);
  mad_set_array(bytes.data(), 0, IB_LINEAR_FORW_TBL_F, ports.data());
  const LftBlock lft = decode_lft_block(bytes).value();
  EXPECT_EQ(lft[0], PortNum{1});
  EXPECT_EQ(lft[63], PortNum{190});

  Bytes ours(64);
  MftBlock masks{};
  masks[0] = 0x8001;
  masks[31] = 0x1234;
  encode_mft_block(masks, std::span(ours).first<64>());
  std::array<std::uint8_t, 64> read{};
  mad_get_array(ours.data(), 0, IB_MULTICAST_FORW_TBL_F, read.data());
  EXPECT_EQ(read[0], 0x80);
  EXPECT_EQ(read[1], 0x01);
  EXPECT_EQ(read[62], 0x12);
  EXPECT_EQ(read[63], 0x34);
}

TEST(Libibmad, SplitsTheMethodIntoCodeAndResponseBit) {
  Bytes bytes(24);
  MadHeader header{.method = static_cast<std::uint8_t>(Method::GetTableResp)};
  encode_mad_header(header, bytes);
  EXPECT_EQ(mad_get_field(bytes.data(), 0, IB_MAD_METHOD_F), 0x12u);
  EXPECT_EQ(mad_get_field(bytes.data(), 0, IB_MAD_RESPONSE_F), 1u);
}

TEST(Libibmad, ReadsTheHopCount) {
  Bytes bytes(256);
  encode_smp(Smp{.directed = true, .hop_pointer = 9, .hop_count = 63},
             std::span(bytes).first<256>());
  EXPECT_EQ(mad_get_field(bytes.data(), 0, IB_DRSMP_HOPCNT_F), 63u);
  EXPECT_EQ(mad_get_field(bytes.data(), 0, IB_DRSMP_HOPPTR_F), 9u);
}

}  // namespace
}  // namespace smd::spec
