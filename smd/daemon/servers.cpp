#include "smd/daemon/servers.h"

#include <fmt/ranges.h>

#include <chrono>
#include <utility>

#include "smd/base/log.h"
#include "smd/base/read_file.h"

namespace smd {
namespace {

/// Until an address or a file that could not be used is tried again.
constexpr Duration kOpenAgain = std::chrono::seconds(10);

/// As much as `smctl` may say at once.
constexpr std::size_t kMostRestBody = 64 * 1024;

/// A handshake takes one or two milliseconds of the loop.
constexpr Rate kRestClients{.burst = 16, .refill = std::chrono::milliseconds(20)};

/// Certificates, keys and tokens: the text of their files by option, of those that can be read.
using KeyFiles = std::map<std::string, std::string>;

void read_key_file(std::string_view option, const std::string& file, KeyFiles& out) {
  if (file.empty()) return;
  if (auto text = read_file(file, kLargestSettings)) out[std::string(option)] = std::move(*text);
}

KeyFiles read_key_files(const ReplicaConfig& config) {
  KeyFiles out;
  read_key_file("replica.certificate", config.certificate, out);
  read_key_file("replica.key", config.key, out);
  read_key_file("replica.ca", config.ca, out);
  return out;
}

KeyFiles read_key_files(const RestConfig& config) {
  KeyFiles out;
  read_key_file("rest.token_file", config.token_file, out);
  read_key_file("rest.certificate", config.certificate, out);
  read_key_file("rest.key", config.key, out);
  read_key_file("rest.ca", config.ca, out);
  return out;
}

/// It is tried again, and said where it is another than before.
void note_trouble(std::string_view event, const Error& error, std::string& trouble) {
  if (trouble == error.context) return;
  trouble = error.context;
  log::error(event, "why=\"{}\" retry_in=10s", trouble);
}

}  // namespace

Servers::Servers(AsioRuntime& runtime, const Config& config, StateStore& store, Hooks hooks)
    : runtime_(runtime), config_(config), store_(store), hooks_(std::move(hooks)) {}

bool Servers::open() {
  register_commands(commands_, hooks_.context());
  if (!open_admin()) return false;
  open_all();
  return true;
}

std::vector<std::string> Servers::alarms() const {
  std::vector<std::string> out;
  const auto add = [&out](std::string_view what, const std::string& why) {
    if (!why.empty()) out.push_back(fmt::format("{}: {}", what, why));
  };
  if (replica_) {
    const std::vector<std::string> differ = replica_->differing_options();
    if (!differ.empty())
      out.push_back(
          fmt::format("options that the master has otherwise: {}; a takeover changes them",
                      fmt::join(differ, ", ")));
    if (!replica_->alarm().empty()) out.push_back(replica_->alarm());
  }
  add("nobody can ask with smctl", admin_trouble_);
  add("nobody can read numbers", metrics_trouble_);
  add("nobody can call over HTTP", rest_trouble_);
  add("managers keep no copy of each other's state", replica_trouble_);
  return out;
}

/// False: another smd listens there.
bool Servers::open_admin() {
  if (admin_) return true;
  const AdminConfig& config = config_.admin;
  auto server = SocketServer::listen(
      runtime_, commands_, {.path = config.socket, .mode = config.socket_mode});
  if (server) {
    admin_ = std::move(*server);
    if (!std::exchange(admin_trouble_, "").empty())
      log::info("admin.listen", "at={}", config.socket);
    return true;
  }
  note_trouble("admin.listen", server.error(), admin_trouble_);
  return server.error().code != Errc::Busy;
}

/// An address that is not there yet may come: after a boot the network may take its time.
void Servers::open_all() {
  static_cast<void>(open_admin());
  open_replica();
  open_metrics();
  open_rest();
  if (admin_trouble_.empty() && replica_trouble_.empty() && metrics_trouble_.empty() &&
      rest_trouble_.empty())
    return;
  open_again_ = Timer(runtime_, runtime_.now() + kOpenAgain, [this] { open_all(); });
}

void Servers::open_metrics() {
  const std::string& at = config_.metrics.listen;
  if (at.empty() || metrics_) return;
  const auto numbers = [this] { return print_metrics(hooks_.numbers()); };
  HttpServerOptions options{.listen = at};
  options.on_accept_failed = [](const std::string& why) {
    log::warn("metrics.accept_failed", "why=\"{}\" retry_in=1s", why);
  };
  auto server = HttpServer::listen(runtime_, serve_metrics(runtime_, numbers), std::move(options));
  if (!server) return note_trouble("metrics.listen", server.error(), metrics_trouble_);
  metrics_trouble_.clear();
  metrics_ = std::move(*server);
  log::info("metrics.listen", "at={} port={}", at, metrics_->port());
}

void Servers::open_rest() {
  if (config_.rest.listen.empty() || rest_) return;
  const auto opened = listen_for_rest();
  if (!opened) return note_trouble("rest.listen", opened.error(), rest_trouble_);
  rest_trouble_.clear();
}

Result<void> Servers::listen_for_rest() {
  const RestConfig& config = config_.rest;
  UfmCalls::Options calls{.tokens = {}, .show_keys = config.show_keys};
  if (!config.token_file.empty()) {
    auto tokens = read_tokens(config.token_file);
    if (!tokens) return tl::unexpected<Error>(tokens.error());
    calls.tokens = std::move(*tokens);
  }
  ufm_ = std::make_unique<UfmCalls>(hooks_.context(), std::move(calls));
  HttpServerOptions options{.listen = config.listen,
                            .max_body = kMostRestBody,
                            .taken = kRestClients,
                            .certificate = config.certificate,
                            .key = config.key,
                            .ca = config.ca};
  options.on_accept_failed = [](const std::string& why) {
    log::warn("rest.accept_failed", "why=\"{}\" retry_in=1s", why);
  };
  auto server = HttpServer::listen_late(
      runtime_,
      [this](const HttpRequest& request, const HttpServer::Answer& answer) {
        ufm_->answer(request, answer);
      },
      std::move(options));
  if (!server) return tl::unexpected<Error>(server.error());
  rest_ = std::move(*server);
  key_files_.merge(read_key_files(config));
  log::info("rest.listen",
            "at={} port={} tls={}",
            config.listen,
            rest_->port(),
            config.certificate.empty() ? "no" : "yes");
  return {};
}

/// Where one of them cannot be used, all stay as they were.
Result<void> Servers::take_rest_files() {
  const RestConfig& config = config_.rest;
  std::vector<std::string> tokens;
  if (!config.token_file.empty()) {
    auto read = read_tokens(config.token_file);
    if (!read) return tl::unexpected<Error>(read.error());
    tokens = std::move(*read);
  }
  if (auto taken = rest_->read_certificates(); !taken) return taken;
  ufm_->take_tokens(std::move(tokens));
  return {};
}

void Servers::read_key_files_again() {
  const auto find_changed = [this](const KeyFiles& now, std::string_view section) {
    std::vector<std::string> changed;
    for (const auto& [option, text] : now) {
      if (key_files_[option] != text) changed.push_back(option);
    }
    for (const auto& [option, text] : key_files_) {
      if (option.starts_with(section) && !now.contains(option)) changed.push_back(option);
    }
    return changed;
  };
  if (replica_) {
    for (const std::string& option : find_changed(read_key_files(config_.replica), "replica."))
      log::info("config.change", "key={} what=content effect=after_restart", option);
  }
  if (!rest_) return;
  KeyFiles now = read_key_files(config_.rest);
  const std::vector<std::string> changed = find_changed(now, "rest.");
  if (changed.empty()) return;
  if (const auto taken = take_rest_files(); !taken)
    return log::error("rest.listen", "why=\"{}\" kept=old", taken.error().context);
  for (const std::string& option : changed) {
    log::info("config.change", "key={} what=content", option);
    key_files_[option] = std::move(now[option]);
  }
}

std::optional<RestStats> Servers::rest_stats() const {
  if (!rest_) return std::nullopt;
  RestStats stats = ufm_->stats();
  stats.server = rest_->stats();
  return stats;
}

std::optional<ReplicaView> Servers::replica_view() const {
  if (!replica_) return std::nullopt;
  return ReplicaView{
      .server = replica_->server(), .client = replica_->client(), .refused = network_->refused()};
}

void Servers::open_replica() {
  const ReplicaConfig& config = config_.replica;
  if (!config.enabled() || replica_) return;
  auto network =
      replica::TlsNetwork::open(runtime_,
                                {.listen = config.listen,
                                 .certificate = config.certificate,
                                 .key = config.key,
                                 .ca = config.ca,
                                 .names = replica::names_of(config.peers)},
                                [this](auto stream) { replica_->accept(std::move(stream)); });
  if (!network) return note_trouble("replica.open", network.error(), replica_trouble_);
  network_ = std::move(*network);
  key_files_.merge(read_key_files(config));
  replica_ =
      std::make_unique<StandbyReplication>(runtime_, *network_, config.peers, hooks_.wall, store_);
  replica_trouble_.clear();
  hooks_.on_replica_opened();
}

}  // namespace smd
