import ManagedModel
import Salvage

extension ByteShift {
  /// How the bytes were moved, as a sentence.
  package var sentence: String {
    switch self {
    case .header(3): "A byte order mark, 3 bytes, stands before the file."
    case .header(let count): "\(count) bytes that are not its own stand before the file."
    case .lineEnds(let count):
      "Each line end (0A) became two bytes (0D 0A), as in a transfer of text: \(count) bytes are too many."
    case .lineFeeds(let lost, _, _):
      "Each 0D before an 0A is gone, as in a transfer of text: \(lost) bytes are missing, one here and one there."
    case .moved(let moves):
      moves.reduce(into: ("", 0)) { text, move in
        let by = move.by - text.1
        text.0 +=
          (text.0.isEmpty ? "" : " ")
          + (by > 0
            ? "\(by) bytes were put in before page \(move.page), and all that follows stands behind its place."
            : "\(-by) bytes are missing before page \(move.page), and all that follows stands before its place.")
        text.1 = move.by
      }.0
    }
  }
}

extension LogKinship.Contradiction {
  /// What it is, as the end of a sentence.
  package var words: String {
    switch self {
    case .pageSize(let log, let main):
      "its pages have \(log) bytes, those of the store \(main)"
    case .pageCount(let committed, let stated):
      "after its last commit the database has \(NumberText.counted(committed, "page")), and its first page counts \(stated)"
    case .journalPages(let counted, let stated):
      "it counts \(NumberText.counted(counted, "page")) before its save, and the first page that it saved counts \(stated)"
    case .uuid(let log, let main): "it is of the store \(log), and this one is \(main)"
    case .schema: "its list of tables is another than the store's"
    case .counters:
      "its first page is of another list of changes than the store's, and its rows have keys beyond the store's counters (Z_MAX)"
    case .unreadable: "with it Z_METADATA cannot be read, and without it it can"
    case .index(let name):
      "with it the index \(name) does not have the rows of its table, and without it it has"
    case .page(let number): "its page \(number) does not fit the pages of the store that lead to it"
    }
  }
}
