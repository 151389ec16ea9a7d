/// The size of a database's pages, found by the pages themselves.
enum PageSize {
  /// The sizes that pages can have.
  static let all = (9...16).map { 1 << $0 }
  /// How many pages of each size are looked at.
  private static let sample = 64

  /// The size with which the most pages of a file begin as pages do.
  ///
  /// A file looks as much like one of larger pages, each of which begins where one does, but of fewer;
  /// and hardly like one of smaller pages, whose cells would lie outside of them.
  ///
  /// - Parameter stated: what the header says, which holds where it fits about as well as any.
  /// - Returns: `nil` where no page looks like one, and nothing is stated.
  static func likely(_ file: MainFile, stated: Int?) throws -> Int? {
    let counts = try all.map { size in
      (size: size, count: try share(file, size) * Double(file.size / size))
    }
    let best = counts.map(\.count).max() ?? 0
    guard best > 0 else { return stated }
    if let stated, let own = counts.first(where: { $0.size == stated }), own.count >= 0.7 * best {
      return stated
    }
    return counts.first { $0.count == best }?.size ?? stated
  }

  /// How many of a sample of pages begin as a b-tree's page does, or say nothing at all.
  private static func share(_ file: MainFile, _ size: Int) throws -> Double {
    let pages = file.size / size
    guard pages > 0 else { return 0 }
    let step = max(1, pages / sample)
    var (looked, sound) = (0, 0)
    for number in stride(from: 1, through: pages, by: step) {
      let bytes = try file.read(at: (number - 1) * size, count: size)
      guard bytes.contains(where: { $0 != 0 }) else { continue }
      looked += 1
      if TreePage(bytes, number: number, usable: size)?.isSound(in: bytes) == true { sound += 1 }
    }
    return looked == 0 ? 0 : Double(sound) / Double(looked)
  }
}
