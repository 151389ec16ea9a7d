import Files

extension DatabaseImage {
  /// Whether any of a sample of pages is one of a b-tree.
  package var looksLikeDatabase: Bool {
    if header.isMagic { return true }
    let step = max(1, pageCount / 500)
    for number in stride(from: 1, through: pageCount, by: step) {
      if let page = try? page(number),
        let tree = TreePage(page.bytes, number: number, usable: usable), tree.count > 0,
        tree.isSound(in: page.bytes)
      {
        return true
      }
    }
    return false
  }

  /// Whether the main file is encrypted or compressed: nothing in it says what it is, and its bytes are
  /// as even as chance.
  package func isMainEncrypted() throws -> Bool {
    guard try !isMainMagic(), mainPages > 0 else { return false }
    var counts = [Int](repeating: 0, count: 256)
    let step = max(1, mainPages / 64)
    for number in stride(from: 1, through: mainPages, by: step) {
      for byte in try mainPage(number) { counts[Int(byte)] += 1 }
    }
    let total = Double(max(1, counts.reduce(0, +)))
    // A few pages are never quite even.
    let bits = counts.filter { $0 > 0 }.reduce(0) { sum, count in
      let share = Double(count) / total
      return sum - share * log2(share)
    }
    return total >= 4096 && bits > 7.8
  }
}
