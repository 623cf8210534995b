; The Witness, with coloured squares: draw a line along the nodes of a grid from the start to the goal, past no node
; twice, so that no region of the grid that the line cuts off holds squares of two colours.
;
; The line is what it has not passed yet: `free` nodes, and cells that are still `open` to their neighbours. A step
; between two cells closes the way from one to the other; a step along the border closes nothing, which is why there
; are two actions and no conditional effect. Regions are derived from what is open, colour by colour: `shares` says that
; a colour is found in the region of a cell. That is an atom for every cell and colour where "in the same region" would
; be one for every two cells, and it is what the goal asks for. Every action is one step of the line's tip, so a plan
; has as many steps as the puzzle has moves.
(define (domain witness)
    (:requirements :strips :typing :equality :existential-preconditions :disjunctive-preconditions
        :negative-preconditions :derived-predicates)
    (:types node cell colour)
    (:predicates
        (border ?from ?to - node)
        (between ?from ?to - node ?one ?other - cell)
        (square ?cell - cell ?colour - colour)
        (tip ?node - node)
        (free ?node - node)
        (open ?one ?other - cell)
        (shares ?cell - cell ?colour - colour)
        (mixed)
    )
    (:derived (shares ?cell - cell ?colour - colour)
        (or
            (square ?cell ?colour)
            (exists (?other - cell) (and (open ?cell ?other) (shares ?other ?colour)))
        )
    )
    (:derived (mixed)
        (exists (?cell - cell ?colour ?another - colour)
            (and (square ?cell ?colour) (shares ?cell ?another) (not (= ?colour ?another)))
        )
    )
    (:action pass
        :parameters (?from ?to - node ?one ?other - cell)
        :precondition (and (tip ?from) (free ?to) (between ?from ?to ?one ?other))
        :effect (and
            (not (tip ?from)) (tip ?to) (not (free ?to))
            (not (open ?one ?other)) (not (open ?other ?one))
        )
    )
    (:action skirt
        :parameters (?from ?to - node)
        :precondition (and (tip ?from) (free ?to) (border ?from ?to))
        :effect (and (not (tip ?from)) (tip ?to) (not (free ?to)))
    )
)
