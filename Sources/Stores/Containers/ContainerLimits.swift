import ManagedModel

/// How much of a container is taken in, lest a small archive fill the disk or the memory.
package struct ContainerLimits: Sendable, Equatable {
  /// Most files and folders, those of archives in it included.
  package var entries = 500_000
  /// Most bytes of one file that belongs to a store.
  package var fileBytes = 8 << 30
  /// Most bytes of all that is unpacked at once.
  package var totalBytes = 16 << 30
  /// From ``largeBytes`` on, no honest data is packed to so small a part: stores reach 3 to 10.
  package var ratio = 100
  /// From which size on ``ratio`` counts.
  package var largeBytes = 1 << 30
  /// From ``smallBytes`` on, nothing is: the most that DEFLATE reaches, with zeros alone, is 1,032.
  package var mostRatio = 1_000
  /// From which size on ``mostRatio`` counts.
  package var smallBytes = 64 << 20
  /// How many archives in an archive are opened. Archives in those never are.
  package var archives = 20
  /// How many backups in a folder or an archive get the names that their files had on the device.
  package var backups = 50

  /// What a person's computer can take.
  package init() {}

  /// Whether so much out of so little is a trap.
  func isBomb(bytes: Int, packed: Int) -> Bool {
    let times = bytes / max(1, packed)
    return bytes > largeBytes && times >= ratio || bytes > smallBytes && times >= mostRatio
  }

  /// What is said of a trap.
  ///
  /// - Parameter place: the entry that is being unpacked, in quotes.
  static func bomb(bytes: Int, packed: Int, in place: String) -> CoreDataError {
    CoreDataError(
      .unreadable,
      "the archive unpacks to \(NumberText.grouped(bytes / max(1, packed))) times its size in \(place): no store compresses so well",
      hint: "The archive is malicious or has no content: ask for another.")
  }
}
