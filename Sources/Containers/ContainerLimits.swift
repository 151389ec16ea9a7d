/// How much of a container is taken in, lest a small archive fill the disk or the memory.
package struct ContainerLimits: Sendable, Equatable {
  /// Most files and folders.
  package var entries = 500_000
  /// Most bytes of one file that belongs to a store.
  package var fileBytes = 8 << 30
  /// Most bytes of all that is unpacked at once.
  package var totalBytes = 16 << 30
  /// What no honest data is packed to: a file of more than ``suspiciousBytes`` that is this many times
  /// what it takes packed is refused. Zeros reach 230 to 1,032, stores 3 to 10.
  package var ratio = 100
  /// From which size on ``ratio`` counts.
  package var suspiciousBytes = 1 << 30

  /// What a person's computer can take.
  package init() {}

  /// Whether so much out of so little is a trap.
  func isBomb(bytes: Int, packed: Int) -> Bool {
    bytes > suspiciousBytes && bytes / max(1, packed) >= ratio
  }
}
