import SwiftModels
import TestSupport

/// How long Swift source takes to be read.
enum SourceBenchmark {
  /// Reads an app of so many lines, the same pieces of text over and over, and mutated source.
  static func run(lines: Int, inputs: Int) {
    let files = app(lines: lines)
    let bytes = files.map(\.bytes.count).reduce(0, +)
    var models = SourceModels([])
    let seconds = time { models = SourceModels(files) }
    let classes = models.current?.classes.count ?? 0
    print(
      "\(lines) lines, \(bytes >> 10) KB, \(classes) classes: \(milliseconds(seconds)) ms, peak \(Fuzzing.peakMemory >> 20) MB"
    )
    for piece in pieces {
      let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
      let seconds = time {
        _ = SourceModels([
          .init(path: "a.swift", bytes: Array(("@Model class Item { var a: " + text).utf8))
        ])
      }
      if seconds > 0.2 { print("\(piece) over and over: \(milliseconds(seconds)) ms") }
    }
    let result = Fuzzing.run(Fuzzing.swiftTarget, count: inputs, seed: 1)
    print(
      "\(result.inputs) mutated sources, \(result.accepted) made sound models, slowest \(milliseconds(result.slowest)) ms, peak \(Fuzzing.peakMemory >> 20) MB, no trap"
    )
  }

  /// What might make a reader slow.
  private static let pieces = [
    "(", "[", "{", "class A {", "\"\\(", "/*", "#if a\n", "enum A: B { case a(", "@A(", "#A(",
    "A<", "var a: [", "var a: (", "#", "`", "\"\"\"", "}", ")", "=/(", "var a: A? ", "#/\n",
    "static var a = Schema(", "extension A { extension ", "var a = A<",
    "enum A: VersionedSchema {}\n",
    "func a(", "let a = [", "#\"\"\"", "@Model class A { var a: A }\n", "typealias A = A.A\n",
  ]

  private static func app(lines: Int) -> [SourceModels.File] {
    var files: [SourceModels.File] = []
    var number = 0
    while number * 50 < lines {
      var text = """
        import SwiftData
        import SwiftUI

        /// One of many classes.
        @available(iOS 17, *)
        @Model public final class Item\(number) {
          @Attribute(.unique, originalName: "former") public var id: UUID
          var name: String = "a \\(1) {"
          var count = 1, isOn = true
          var kind: Kind\(number) = .first { didSet { print(kind) } }
          @Relationship(deleteRule: .cascade) var others: [Item\(max(0, number - 1))] = []

          init(id: UUID, name: String) {
            self.id = id
            self.name = name
            self.others = []
          }
        }

        enum Kind\(number): String, Codable { case first, second, third }

        struct Item\(number)View: View {
          @State private var isShown: Bool = false
          let item: Item\(number)

        """
      for row in 0..<24 {
        text += "      Text(\"row \\(item.name) \(row)\").padding(.leading, 8 / 2).font(.body)\n"
      }
      text += "}\n"
      files.append(.init(path: "Item\(number).swift", bytes: Array(text.utf8)))
      number += 1
    }
    return files
  }

  private static func time(_ body: () -> Void) -> Double {
    let start = Fuzzing.now()
    body()
    return Fuzzing.now() - start
  }

  private static func milliseconds(_ seconds: Double) -> Double {
    (seconds * 10_000).rounded() / 10
  }
}
