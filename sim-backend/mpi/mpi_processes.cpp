#include "sim-backend/mpi/mpi_processes.h"

#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace smd::sim {
namespace {

constexpr int kTag = 1;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // MPI counts with an int
constexpr int kLooks = 20000;                              // before it asks for the time

}  // namespace

MpiProcesses::MpiProcesses(int& argc, char**& argv, std::chrono::milliseconds patience)
    : patience_(patience) {
  int given = 0, number = 0, count = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  number_ = static_cast<unsigned>(number);
  count_ = static_cast<unsigned>(count);
  if (given < MPI_THREAD_FUNNELED) fail("this MPI takes no threads beside the one that calls it");
}

MpiProcesses::~MpiProcesses() { MPI_Finalize(); }

void MpiProcesses::agree(std::span<std::int64_t> values) {
  MPI_Allreduce(MPI_IN_PLACE,
                values.data(),
                static_cast<int>(values.size()),
                MPI_INT64_T,
                MPI_MIN,
                MPI_COMM_WORLD);
}

void MpiProcesses::exchange(std::span<std::int64_t> values,
                            std::span<const Bytes> out,
                            std::span<Bytes> in) {
  std::vector<MPI_Request> sent;
  for (unsigned to = 0; to < count_; ++to) {
    if (to == number_ || !leaves(to, out[to])) continue;
    if (out[to].size() > std::numeric_limits<int>::max()) {
      fail(fmt::format("{} bytes cross to process {} in one window; MPI takes {} in a message",
                       out[to].size(),
                       to,
                       std::numeric_limits<int>::max()));
    }
    MPI_Isend(out[to].data(),
              static_cast<int>(out[to].size()),
              MPI_BYTE,
              static_cast<int>(to),
              kTag,
              MPI_COMM_WORLD,
              &sent.emplace_back());
  }
  agree(values);
  for (unsigned from = 0; from < count_; ++from) {
    if (from != number_) receive(from, in[from]);
  }
  MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
}

void MpiProcesses::receive(unsigned from, Bytes& into) {
  const auto began = std::chrono::steady_clock::now();
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  for (int look = 1;; ++look) {
    int found = 0;
    MPI_Improbe(static_cast<int>(from), kTag, MPI_COMM_WORLD, &found, &message, &status);
    if (found != 0) break;
    if (look % kLooks != 0) continue;
    if (std::chrono::steady_clock::now() - began < patience_) continue;
    fail(
        fmt::format("a message of process {} is lost: it was sent before all agreed, and is not "
                    "here {} s later",
                    from,
                    std::chrono::duration<double>(patience_).count()));
  }
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  into.resize(static_cast<std::size_t>(size));
  MPI_Mrecv(into.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

void MpiProcesses::share(std::span<std::byte> bytes, unsigned owner) {
  for (std::size_t at = 0; at < bytes.size(); at += kMostAtOnce) {
    MPI_Bcast(bytes.data() + at,
              static_cast<int>(std::min(kMostAtOnce, bytes.size() - at)),
              MPI_BYTE,
              static_cast<int>(owner),
              MPI_COMM_WORLD);
  }
}

void MpiProcesses::fail(const std::string& why) {
  fmt::print(stderr, "smsim-mpi: process {}: {}\n", number_, why);
  end_all(1);
}

void MpiProcesses::end_all(int exit_code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace smd::sim
