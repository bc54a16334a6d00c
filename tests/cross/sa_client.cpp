// A host that writes records or asks for one: one Set, Delete or Get to the subnet administration
// through libibumad, as kernels do it. Runs beneath libumad2sim, or on a real adapter.
//
//   sa_client set|delete|get RECORD FIELD=VALUE…
//
// Fields are those of `smctl sa`; the value "self" of a GID is the port's own. InformInfo has the
// fields of InformInfoRecord. Prints the status and the record of the answer, a field a line.
#include <fmt/core.h>
#include <infiniband/umad.h>

#include <endian.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "smd/report/sa_query.h"
#include "smd/sa/sa_mad.h"

namespace smd::test {
namespace {

constexpr std::uint32_t kGsiQKey = 0x80010000;
constexpr int kPatienceMs = 5000;

struct Wanted {
  Method method;
  const SaRecordText* record;
  bool bare;  // InformInfo: what an InformInfoRecord has behind subscriber and number
  std::vector<std::pair<const SaField*, std::string>> fields;
};

int complain(const std::string& what) {
  fmt::print(stderr, "sa_client: {}\n", what);
  return 2;
}

class Client {
 public:
  ~Client() {
    if (agent_ >= 0) umad_unregister(fd_, agent_);
    if (fd_ >= 0) umad_close_port(fd_);
  }

  bool open() {
    if (umad_init() < 0) return false;
    umad_port_t port{};
    if (umad_get_port(nullptr, 0, &port) < 0) return false;
    manager_ = static_cast<std::uint16_t>(port.sm_lid);
    // In network order, both.
    for (const std::uint64_t half : {be64toh(port.gid_prefix), be64toh(port.port_guid)}) {
      for (int shift = 48; shift >= 0; shift -= 16)
        own_ += fmt::format("{}{:x}", own_.empty() ? "" : ":", half >> shift & 0xffff);
    }
    umad_release_port(&port);
    fd_ = umad_open_port(nullptr, 0);
    if (fd_ < 0) return false;
    agent_ =
        umad_register(fd_, static_cast<int>(MgmtClass::SubnAdm), sa::kClassVersion, 0, nullptr);
    return agent_ >= 0;
  }

  /// Empty, or what is wrong with the words.
  std::string write(const Wanted& wanted) {
    std::array<std::byte, sa::kDataSize> data{};
    std::uint64_t mask = 0;
    for (const auto& [field, text] : wanted.fields) {
      const std::string& value = text == "self" ? own_ : text;
      if (const auto read = parse_sa_field(*field, value, data); !read) return read.error().context;
      mask |= sa::component_bit(field->place.bit);
    }
    const std::span<std::byte> mad = this->mad();
    sa::encode_sa_header({.mad = {.mgmt_class = static_cast<std::uint8_t>(MgmtClass::SubnAdm),
                                  .class_version = sa::kClassVersion,
                                  .method = static_cast<std::uint8_t>(wanted.method),
                                  .transaction_id = 1,
                                  .attribute_id = static_cast<std::uint16_t>(
                                      wanted.bare ? sa::RecordId::InformInfo : wanted.record->id)},
                          .component_mask = wanted.bare ? 0 : mask},
                         mad);
    const auto used = std::span(data).subspan(skipped(wanted));
    std::ranges::copy(used, mad.subspan(sa::kHeaderSize).begin());
    return {};
  }

  /// Whether an answer came.
  bool exchange() {
    umad_set_addr(buffer_.data(), manager_, 1, 0, static_cast<int>(kGsiQKey));
    if (umad_send(fd_, agent_, buffer_.data(), kMadSize, kPatienceMs, 0) < 0) return false;
    int length = kMadSize;
    return umad_recv(fd_, buffer_.data(), &length, kPatienceMs) >= 0 &&
           umad_status(buffer_.data()) == 0;
  }

  void print(const Wanted& wanted) {
    fmt::print("status=0x{:04x}\n", sa::decode_sa_header(mad())->mad.status);
    std::array<std::byte, sa::kDataSize> data{};
    const auto used = std::span(data).subspan(skipped(wanted));
    std::ranges::copy(mad().subspan(sa::kHeaderSize, used.size()), used.begin());
    for (const SaField& field : wanted.record->fields)
      fmt::print("{}={}\n", field.name, print_sa_field(field, data).dump());
  }

 private:
  static std::size_t skipped(const Wanted& wanted) { return wanted.bare ? kInfoAt : 0; }

  static constexpr std::size_t kInfoAt = 24;

  [[nodiscard]] std::span<std::byte> mad() {
    return {static_cast<std::byte*>(umad_get_mad(buffer_.data())), kMadSize};
  }

  alignas(8) std::array<std::byte, sizeof(ib_user_mad) + kMadSize> buffer_{};
  std::string own_;
  std::uint16_t manager_ = 0;
  int fd_ = -1;
  int agent_ = -1;
};

}  // namespace
}  // namespace smd::test

int main(int argc, char** argv) {
  using namespace smd;
  using namespace smd::test;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return complain("sa_client set|delete|get RECORD FIELD=VALUE…");
  const bool bare = words[1] == "InformInfo";
  Wanted wanted{.method = words[0] == "delete" ? Method::Delete
                          : words[0] == "get"  ? Method::Get
                                               : Method::Set,
                .record = find_sa_record(bare ? "InformInfoRecord" : words[1]),
                .bare = bare,
                .fields = {}};
  if (wanted.record == nullptr) return complain("no record " + words[1]);
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const SaField* field = find_sa_field(*wanted.record, words[i].substr(0, equals));
    if (field == nullptr || equals == std::string::npos) return complain("no field " + words[i]);
    wanted.fields.emplace_back(field, words[i].substr(equals + 1));
  }
  Client client;
  if (!client.open()) return complain("no port");
  if (const std::string wrong = client.write(wanted); !wrong.empty()) return complain(wrong);
  if (!client.exchange()) return complain("no answer");
  client.print(wanted);
  return 0;
}
