#include "smd/replica/server.h"

#include <algorithm>
#include <utility>

#include "smd/base/log.h"

namespace smd::replica {
Server::Server(Runtime& runtime, WallClock wall, HeartbeatTiming timing)
    : runtime_(runtime), wall_(std::move(wall)), timing_(timing) {}

void Server::accept(std::unique_ptr<Stream> stream) {
  const std::string name = stream->name();
  if (peers_.size() >= kMostPeers) {
    ++disconnected_;
    return log::warn("replica.refused", "peer={} why=\"{} are connected\"", name, kMostPeers);
  }
  auto owned = std::make_unique<Peer>();
  Peer& peer = *owned;
  peers_.push_back(std::move(owned));
  peer.link = std::make_unique<Link>(
      runtime_,
      std::move(stream),
      wall_,
      Link::Handlers{.on_frame = [this, &peer](const Frame& frame) { on_frame(peer, frame); },
                     .on_end = [this, &peer](const std::string& why) { on_end(peer, why); }},
      timing_);
  log::info("replica.peer", "peer={} role=reader", name);
  peer.link->send(FrameKind::Hello, encode_hello(hello_));
  flush();
}

void Server::present(const Hello& hello) {
  if (hello == hello_) return;
  hello_ = hello;
  if (hello.state != SmState::Master) parts_.clear();
  for (const auto& peer : peers_) {
    // Whom they have state from until we rule again is not known: all of it then.
    if (hello.state != SmState::Master) {
      peer->sent.clear();
      peer->has_copy = false;
    }
    peer->link->send(FrameKind::Hello, encode_hello(hello_));
  }
}

void Server::publish(const std::map<std::string, std::string>& parts) {
  if (hello_.state != SmState::Master) return;
  for (const auto& [name, text] : parts) {
    Published& kept = parts_[name];
    if (kept.version != 0 && kept.text == text) continue;
    kept = {.text = text, .version = ++version_};
  }
  flush();
}

void Server::flush() {
  for (const auto& peer : peers_) flush(*peer);
}

void Server::flush(Peer& peer) {
  if (hello_.state != SmState::Master) return;
  const auto begin = [&](const std::string& name, std::string text, FrameKind kind) {
    peer.under_way[name] = {.text = std::move(text), .last = kind};
    ++parts_sent_;
    send_piece(peer, name);
  };
  for (const auto& [name, kept] : parts_) {
    std::uint64_t& sent = peer.sent[name];
    if (sent == kept.version || peer.under_way.contains(name) || peer.link->ended()) continue;
    sent = kept.version;
    begin(name, kept.text, FrameKind::Part);
  }
  for (const auto& [name, source] : changing_) {
    if (peer.under_way.contains(name) || peer.link->ended()) continue;
    std::uint64_t& sent = peer.sent[name];
    const std::uint64_t position = source.position();
    if (sent == position) continue;
    auto changes = sent == 0 ? std::nullopt : source.since(sent);
    sent = position;
    if (changes) {
      begin(name, std::move(*changes), FrameKind::Changes);
    } else {
      begin(name, source.whole(), FrameKind::Part);
    }
  }
}

void Server::send_piece(Peer& peer, const std::string& name) {
  Sending& sending = peer.under_way.at(name);
  std::string piece = sending.text.substr(sending.at, kPieceBytes);
  sending.at += piece.size();
  const bool is_last = sending.at == sending.text.size();
  peer.link->send(is_last ? sending.last : FrameKind::Piece,
                  encode_part({.name = name, .text = std::move(piece)}));
}

bool Server::is_current(const Peer& peer) const {
  if (hello_.state != SmState::Master || peer.link->ended() || parts_.empty() ||
      !peer.under_way.empty())
    return false;
  const auto has = [&](const std::string& name, std::uint64_t version) {
    const auto sent = peer.sent.find(name);
    return sent != peer.sent.end() && sent->second == version;
  };
  return std::ranges::all_of(
             parts_, [&](const auto& each) { return has(each.first, each.second.version); }) &&
         std::ranges::all_of(
             changing_, [&](const auto& each) { return has(each.first, each.second.position()); });
}

bool Server::is_current() const {
  const auto has_ended = [](const auto& each) { return each->link->ended(); };
  return !std::ranges::all_of(peers_, has_ended) &&
         std::ranges::all_of(
             peers_, [&](const auto& each) { return has_ended(each) || is_current(*each); });
}

bool Server::is_current(Guid reader) const {
  return std::ranges::any_of(
      peers_, [&](const auto& each) { return each->manager == reader && is_current(*each); });
}

bool Server::has_copy(Guid reader) const {
  return std::ranges::any_of(peers_, [&](const auto& each) {
    return each->manager == reader && each->has_copy && !each->link->ended();
  });
}

void Server::on_frame(Peer& peer, const Frame& frame) {
  if (frame.kind == FrameKind::Taken) {
    const auto taken = peer.under_way.find(frame.body);
    if (taken == peer.under_way.end()) return peer.link->end("it took what it was not sent");
    if (taken->second.at < taken->second.text.size()) return send_piece(peer, frame.body);
    peer.under_way.erase(taken);
    flush(peer);
    peer.has_copy = peer.has_copy || is_current(peer);
    return;
  }
  if (frame.kind != FrameKind::Hello) return peer.link->end("a reader that sends state");
  const auto hello = decode_hello(frame.body);
  if (!hello) return peer.link->end(hello.error().context);
  if (hello->subnet_prefix != hello_.subnet_prefix)
    return peer.link->end("it manages a subnet with another prefix");
  peer.manager = hello->manager;
}

void Server::on_end(Peer& peer, const std::string& why) {
  ++disconnected_;
  log::info("replica.peer_gone", "peer={} why=\"{}\"", peer.link->name(), why);
  reap_ = Timer(runtime_, runtime_.now(), [this] {
    std::erase_if(peers_, [](const auto& each) { return each->link->ended(); });
  });
}

std::vector<std::string> Server::peers() const {
  std::vector<std::string> names;
  for (const auto& peer : peers_)
    if (!peer->link->ended()) names.push_back(peer->link->name());
  return names;
}

}  // namespace smd::replica
