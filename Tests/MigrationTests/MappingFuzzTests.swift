import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Damaged mapping models")
struct MappingFuzzTests {
  @Test("whatever can be read of damaged files is assembled and compiled, or an error, in time")
  func files() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    let (before, after) = try MappingSamples.models()
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    let corpus = [
      try MappingSamples.compiled(from: before, to: after),
      try MappingSamples.document(models: nil),
    ]
    let target = Fuzzing.Target("mappings", corpus: corpus) { bytes in
      let document = try MappingModelDocument(bytes: bytes)
      // Whether it fits or not: what does not fit is not looked at by others.
      let mapping = try MappingAssembly(document.source, from: before, to: after).mapping()
      for entity in mapping.entityMappings {
        guard let name = entity.source, before.entity(named: name) != nil else { continue }
        let scope = ExpressionScope(store: store.store, entity: name)
        for case .expression(let expression)? in entity.attributes.map(\.expression?.form) {
          _ = try scope.compile(expression)
        }
        if case .predicate(let format)? = entity.condition?.form {
          _ = try scope.compile(predicate: format)
        }
      }
    }
    let result = Fuzzing.run(target, count: TestScale.count(800, ofAll: 4000), seed: seed)
    #expect(result.slowest < 1, "seed \(seed)")
    #expect(result.accepted > 0, "seed \(seed)")
  }

  @Test("what compiles of damaged expressions is SQL that runs")
  func expressions() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    let corpus = ExpressionCompilingTests.examples.map { Array($0.format.utf8) }
    let target = Fuzzing.Target("expressions", corpus: corpus) { bytes in
      let scope = ExpressionScope(store: store.store, entity: "Person")
      let text = String(decoding: bytes, as: UTF8.self)
      var compiled: [CompiledExpression] = []
      if let expression = try? Expression(format: text) {
        if let value = try? scope.compile(expression) { compiled.append(value) }
      }
      if let condition = try? scope.compile(predicate: "\(text) == 1 OR age > \(text)") {
        compiled.append(condition)
      }
      guard !compiled.isEmpty else { throw CoreDataError(.usage, "none") }
      for expression in compiled {
        do {
          _ = try store.attached.values(expression.sql, of: "Person")
        } catch {
          Issue.record("\(text): \(expression.sql): \(error), seed \(seed)")
        }
      }
    }
    let result = Fuzzing.run(target, count: TestScale.count(800, ofAll: 4000), seed: seed)
    #expect(result.slowest < 1, "seed \(seed)")
    #expect(result.accepted > 0, "seed \(seed)")
  }

  @Test("expressions put together of others compile to SQL that runs, or are refused")
  func compositions() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    var generator = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let store = try Self.store(in: folder)
    let scope = ExpressionScope(store: store.store, entity: "Person")
    let parts = try ExpressionCompilingTests.examples.map { try Expression(format: $0.format) }
    let functions = [
      "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:", "modulus:by:",
      "bitwiseXor:with:", "uppercase:", "canonical:", "length:", "abs:", "sqrt:",
      "castObject:toType:",
    ]
    let messages = [
      "uppercaseString", "length", "stringValue", "stringByAppendingString:", "substringToIndex:",
    ]
    let classes = ["NSString", "NSNumber", "NSDecimalNumber", "NSDate", "NSUUID"]
    func part(_ depth: Int) -> Expression {
      let kind = depth == 0 ? 0 : Int.random(in: 0..<6, using: &generator)
      switch kind {
      case 1, 2:
        let name = functions.randomElement(using: &generator) ?? "abs:"
        if name == "castObject:toType:" {
          let type = classes.randomElement(using: &generator) ?? "NSString"
          return .function(
            name, receiver: nil, arguments: [part(depth - 1), .constant(.string(type))])
        }
        let count = name.count { $0 == ":" }
        return .function(name, receiver: nil, arguments: (0..<count).map { _ in part(depth - 1) })
      case 3:
        let name = messages.randomElement(using: &generator) ?? "length"
        return .function(
          name, receiver: part(depth - 1), arguments: name.contains(":") ? [part(depth - 1)] : [])
      case 4:
        let condition = Predicate.Comparison(
          .keyPath("age", of: nil), .greater, .constant(.integer(3)))
        return .conditional(.comparison(condition), part(depth - 1), part(depth - 1))
      default: return parts.randomElement(using: &generator) ?? .selfObject
      }
    }
    var compiled = 0
    let rounds = TestScale.count(600, ofAll: 3000)
    for _ in 0..<rounds {
      let expression = part(4)
      do {
        let sql = try scope.compile(expression).sql
        compiled += 1
        do {
          _ = try store.attached.values(sql, of: "Person")
        } catch {
          Issue.record("\(expression): \(sql): \(error), seed \(seed)")
        }
      } catch {
        #expect(error.kind == .refused, "\(error)")
      }
    }
    #expect(compiled > rounds / 6, "seed \(seed)")
  }

  /// Used by one thread at a time.
  private struct Opened: @unchecked Sendable {
    let store: Store
    let attached: AttachedStore
  }

  private static func store(in folder: TemporaryFolder) throws -> Opened {
    let path = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: path, model: MappingSamples.models().before)
    try writer.insert("Person", attributes: ["name": .string("Ann"), "age": .integer(41)])
    try writer.finish()
    let store = try Store(path: path)
    return Opened(store: store, attached: try AttachedStore(store))
  }
}
