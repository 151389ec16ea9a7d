/// Names one piece of work that was asked for, so that its answers can be told from older ones.
package struct TaskID: Sendable, Hashable {
  let number: Int

  init(_ number: Int) {
    self.number = number
  }
}
