import CNcurses

/// Where the threads of a program take their memory from.
package enum ThreadMemory {
  /// Has all threads share one heap, where the system would give each its own.
  ///
  /// What one thread freed, another can use then: else a program whose work moves from thread to thread keeps, once for
  /// each of them, as much free memory as the work ever took. Of use before the first thread begins.
  package static func share() {
    #if canImport(Glibc)
      _ = mallopt(M_ARENA_MAX, 1)
    #endif
  }
}
