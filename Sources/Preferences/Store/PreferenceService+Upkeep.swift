/// What is done now and then, by a thread of whoever runs the service.
extension PreferenceService {
  /// Forgets event ids and erasures that are older than they are kept.
  ///
  /// - Parameter stepMax: about so many at once, so that no write waits long behind it.
  public func forgetOld(stepMax: Int = 1000) throws(StoreError) {
    let now = nowMs()
    let kept = [(false, settings.eventIDsKeptMs), (true, settings.linkEventIDsKeptMs)]
    for (ofLinks, keptMs) in kept {
      var isMore = true
      while isMore {
        isMore = try store.writer.perform { connection throws(SQLError) in
          try EventIDTable(connection: connection).forget(
            ofLinks: ofLinks, recordedBeforeMs: now - keptMs, limit: stepMax)
        }
      }
    }
    let erasuresBefore = now - settings.erasuresKeptMs
    let key = store.erasureKey
    try store.writer.perform { connection throws(SQLError) in
      try ErasedUsers(connection: connection, key: key).forget(recordedBeforeMs: erasuresBefore)
    }
  }

  /// Makes what was erased go from the database's log too; false where a reader was in the way, and
  /// the next time will do.
  public func purgeErased() throws(StoreError) -> Bool {
    try store.writer.perform(isAlone: true) { connection throws(SQLError) in
      try connection.purgeErased()
    }
  }
}
