/// The pages that a database counts as free.
struct Freelist {
  /// The pages, trunks and leaves.
  private(set) var pages: Set<Int> = []
  /// Whether the list is what the header says of it.
  private(set) var isSound = true

  /// Follows the list from the header; without one that can be believed it is empty.
  init(_ image: DatabaseImage) throws {
    guard image.header.isMagic else { return }
    var trunk = image.header.freelist
    while trunk != 0 {
      guard trunk > 1, trunk <= image.pageCount, pages.insert(trunk).inserted,
        let bytes = try image.page(trunk)?.bytes
      else {
        isSound = false
        return
      }
      let count = Int(BigEndian.word(bytes, 4))
      guard count <= image.usable / 4 - 2 else {
        isSound = false
        return
      }
      for index in 0..<count {
        let page = Int(BigEndian.word(bytes, 8 + index * 4))
        guard page > 1, page <= image.pageCount, pages.insert(page).inserted else {
          isSound = false
          return
        }
      }
      trunk = Int(BigEndian.word(bytes, 0))
    }
    if pages.count != image.header.freePages { isSound = false }
  }
}
