// ibsim's sockets: abstract Unix datagram sockets NAME:ctl and NAME:out<client>, as libumad2sim
// looks for them. Carries datagrams between processes and the switchboard; knows no MADs.
#pragma once

#include <memory>
#include <string>

#include "sim-backend/serve/switchboard.h"
#include "smd/runtime/asio_runtime.h"

namespace smd::sim {

class SocketServer {
 public:
  /// Binds every socket. Busy when somebody serves under that name, Invalid when the name does not
  /// fit.
  static Result<std::unique_ptr<SocketServer>> open(AsioRuntime& runtime,
                                                    SimFabric& fabric,
                                                    const std::string& name,
                                                    SwitchboardOptions options);
  ~SocketServer();
  SocketServer(const SocketServer&) = delete;

  [[nodiscard]] Switchboard& switchboard();

  /// Packets that a client did not take in time.
  [[nodiscard]] std::uint64_t overflowed() const;

 private:
  struct Impl;
  explicit SocketServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smd::sim
