// Orders to the feed, one after the other, over a Unix socket; see feed_order.h.
#pragma once

#include <functional>

#include "tests/bench/sa/feed.h"

namespace smd::bench {

/// The calling thread stands for an adapter, which waits for no thread of a program: from now on it
/// goes ahead of all that have no real-time priority. False: not permitted.
bool run_ahead();

/// Blocks for ever, ahead of others. `wake`: there are questions.
void take_orders(Feed& feed, const std::function<void()>& wake);

}  // namespace smd::bench
