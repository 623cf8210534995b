; PushWorld: an agent pushes shapes of several cells, which push each other, until the shapes of the goal lie in place.
;
; A shape is an object that is `at` all its cells, so shapes of any form need nothing more. Directions are objects: one
; action for all four, and a network that sees a puzzle the same way however it is turned. What a step pushes is derived
; from who stands in whose way, for every direction and as far as it reaches; the step is possible if nothing of that
; would enter a wall, or the agent one of its own walls. Then universal effects move all of it at once, so a plan has as
; many steps as the puzzle has moves. Walls are cells that are not there.
(define (domain pushworld)
    (:requirements :strips :typing :negative-preconditions :existential-preconditions :disjunctive-preconditions
        :universal-preconditions :conditional-effects :derived-predicates)
    (:types cell direction shape)
    (:predicates
        (next ?direction - direction ?from ?to - cell)
        (wall ?direction - direction ?cell - cell)
        (agent-wall ?direction - direction ?cell - cell)
        (agent ?shape - shape)
        (at ?shape - shape ?cell - cell)
        (pushed ?direction - direction ?shape - shape)
        (stopped ?direction - direction)
    )
    (:derived (pushed ?direction - direction ?shape - shape)
        (or
            (agent ?shape)
            (exists (?to - cell)
                (and
                    (at ?shape ?to)
                    (exists (?from - cell)
                        (and
                            (next ?direction ?from ?to)
                            (exists (?other - shape) (and (at ?other ?from) (pushed ?direction ?other)))
                        )
                    )
                )
            )
        )
    )
    (:derived (stopped ?direction - direction)
        (exists (?shape - shape ?cell - cell)
            (and
                (at ?shape ?cell)
                (or
                    (and (pushed ?direction ?shape) (wall ?direction ?cell))
                    (and (agent ?shape) (agent-wall ?direction ?cell))
                )
            )
        )
    )
    (:action step
        :parameters (?direction - direction)
        :precondition (not (stopped ?direction))
        :effect (forall (?shape - shape ?from ?to - cell)
            (when (and (pushed ?direction ?shape) (at ?shape ?from) (next ?direction ?from ?to))
                (and (not (at ?shape ?from)) (at ?shape ?to))
            )
        )
    )
)
