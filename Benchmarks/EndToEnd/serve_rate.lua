-- One kind of request to the preference service, for wrk: -- KIND USERS TOKEN
-- Kinds: read (a device's settings), write (a choice, the other way each time), nothing (no store at all).
-- The last line is what came of it, as JSON.

local kind, users, threads = nil, nil, 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  kind, users = args[1], tonumber(args[2])
  wrk.headers["Authorization"] = "Bearer " .. args[3]
  wrk.headers["Content-Type"] = "application/json"
  math.randomseed(1000 + number)
end

function request()
  local user = math.random(0, users - 1)
  if kind == "read" then
    return wrk.format("GET", "/v1/users/user-" .. user .. "/devices/d-" .. user .. "/settings")
  elseif kind == "write" then
    local state = math.random(2) == 1 and "user-on" or "user-off"
    return wrk.format("PUT", "/v1/users/user-" .. user .. "/choices/social", nil,
      '{"state":"' .. state .. '","source":"in_app_settings"}')
  end
  return wrk.format("GET", "/healthz")
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
