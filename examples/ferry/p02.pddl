(define (problem ferry-20-1679318929)
    (:domain ferry)
    (:objects
        car1 car2 car3 car4 - car
        loc1 loc2 loc3 loc4 loc5 loc6 loc7 loc8 loc9 loc10 loc11 loc12 loc13 loc14 loc15 loc16 - location
    )
    (:init
        (empty-ferry)
        (at-ferry loc3)
        (at car1 loc9)
        (at car2 loc14)
        (at car3 loc9)
        (at car4 loc8)
    )
    (:goal (and
        (at car1 loc6)
        (at car2 loc6)
        (at car3 loc10)
        (at car4 loc16)
    ))
)
