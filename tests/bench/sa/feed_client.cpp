#include "tests/bench/sa/feed_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "smd/base/rng.h"
#include "smd/sa/path_finder.h"
#include "smd/sa/sa_mad.h"

namespace smd::bench {
namespace {

constexpr std::size_t kPairs = 65'536;  // asked round and round

std::array<std::byte, kFeedMad> request(AskBy by) {
  namespace part = sa::path_component;
  const std::uint64_t ends =
      by == AskBy::Gid ? part::kSgid | part::kDgid : part::kSlid | part::kDlid;
  std::array<std::byte, kFeedMad> mad{};
  sa::encode_sa_header(
      {.mad = {.mgmt_class = static_cast<std::uint8_t>(MgmtClass::SubnAdm),
               .class_version = sa::kClassVersion,
               .method = static_cast<std::uint8_t>(Method::Get),
               .attribute_id = static_cast<std::uint16_t>(sa::RecordId::PathRecord)},
       .component_mask = ends | part::kNumbPath},
      mad);
  sa::encode_record(
      sa::PathRecord{
          .dgid = {kDefaultSubnetPrefix, {}}, .sgid = {kDefaultSubnetPrefix, {}}, .numb_path = 1},
      std::span(mad).subspan(sa::kHeaderSize));
  return mad;
}

void copy(const FeedPair& from, std::size_t at, std::size_t size, FeedPair& to, std::size_t where) {
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at),
              size,
              to.begin() + static_cast<std::ptrdiff_t>(where));
}

std::string converse(const std::filesystem::path& socket, const std::string& line) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  std::string answer;
  if (fd >= 0 && ::connect(fd, any, sizeof address) == 0 &&
      ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) answer += c;
  }
  if (fd >= 0) ::close(fd);
  return answer;
}

}  // namespace

void FeedClient::write(const std::filesystem::path& file,
                       AskBy by,
                       const std::vector<FeedPair>& pairs) const {
  std::ofstream out(file, std::ios::binary);
  const auto put = [&out](const auto& bytes) {
    std::string text(bytes.size(), '\0');
    std::memcpy(text.data(), bytes.data(), bytes.size());
    out << text;
  };
  put(request(by));
  for (const FeedPair& pair : pairs) put(pair);
}

nlohmann::json FeedClient::order(const std::filesystem::path& questions, const Round& round) const {
  const std::string answer = converse(
      socket_,
      fmt::format(
          "{} {} {} {}\n", questions.string(), round.window, round.milliseconds, round.rate));
  nlohmann::json result = nlohmann::json::parse(answer, nullptr, false);
  if (result.is_discarded()) result = {{"error", answer.empty() ? "no answer" : answer}};
  return result;
}

std::string FeedClient::learn_lids(const std::vector<Guid>& hosts, Lid asker) {
  hosts_.clear();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    FeedPair& pair = hosts_.emplace_back();
    put_big_endian(pair.data() + feed_pair::kSourceGuid, hosts[(i + 1) % hosts.size()].value());
    put_big_endian(pair.data() + feed_pair::kTargetGuid, hosts[i].value());
    put_big_endian(pair.data() + feed_pair::kAsker, asker.value());
  }
  const std::filesystem::path file = folder_ / "learn";
  write(file, AskBy::Gid, hosts_);
  const nlohmann::json result = order(file, {.window = 16, .milliseconds = 0});
  if (result.contains("error") || result.at("answered") != hosts.size())
    return "not every host has a LID: " + result.dump();
  std::ifstream in(file, std::ios::binary);
  for (FeedPair& pair : hosts_) {
    std::array<char, sizeof(FeedPair)> bytes{};
    in.read(bytes.data(), bytes.size());
    std::memcpy(pair.data(), bytes.data(), bytes.size());
  }
  return "";
}

nlohmann::json FeedClient::ask(const Round& round) {
  Rng rng(1);
  std::vector<FeedPair> pairs;
  while (pairs.size() < kPairs) {
    const FeedPair& source = hosts_[rng.below(hosts_.size())];
    const FeedPair& target = hosts_[rng.below(hosts_.size())];
    FeedPair& pair = pairs.emplace_back();
    copy(source, feed_pair::kTargetGuid, 8, pair, feed_pair::kSourceGuid);
    copy(target, feed_pair::kTargetGuid, 8, pair, feed_pair::kTargetGuid);
    copy(source, feed_pair::kTargetLid, 2, pair, feed_pair::kSourceLid);
    copy(target, feed_pair::kTargetLid, 2, pair, feed_pair::kTargetLid);
    copy(source, feed_pair::kTargetLid, 2, pair, feed_pair::kAsker);
  }
  const std::filesystem::path file = folder_ / "questions";
  write(file, round.by, pairs);
  return order(file, round);
}

}  // namespace smd::bench
